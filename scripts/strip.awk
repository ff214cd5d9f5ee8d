# SPDX-License-Identifier: MIT
#
# strip.awk - remove comments and the contents of strings from C, for the scripts that check the tree
#
# strip(line) returns the code of a line. It remembers from line to line whether a comment is open.
# Call strip_reset() at the first line of each file.

function strip_reset()
{
	strip_open = 0
}

function strip(line,    out, at, c, end)
{
	out = ""
	while (line != "") {
		if (strip_open) {
			at = index(line, "*/")
			if (!at)
				return out
			line = substr(line, at + 2)
			strip_open = 0
			out = out " "
			continue
		}
		if (!match(line, /\/\*|\/\/|"|'/))
			return out line
		out = out substr(line, 1, RSTART - 1)
		c = substr(line, RSTART, 2)
		line = substr(line, RSTART)
		if (c == "//")
			return out
		if (c == "/*") {
			strip_open = 1
			line = substr(line, 3)
			continue
		}
		c = substr(c, 1, 1)
		out = out c c
		line = substr(line, 2)
		while (line != "") {
			end = substr(line, 1, 1)
			line = substr(line, end == "\\" ? 3 : 2)
			if (end == c)
				break
		}
	}
	return out
}
