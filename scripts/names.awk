# SPDX-License-Identifier: MIT
#
# names.awk - print every line that breaks a rule of check-names.sh, as FILE:LINE: what
#
# Loaded after strip.awk. The files are named by their path from the root of the tree. The patterns are
# written so that they do not match this file.

BEGIN {
	n = split("coroutine task job util misc common helper manager", word)
	for (i = 1; i <= n; i++)
		banned[word[i]] = banned[word[i] "s"] = word[i]
	delete banned["jobs"] # how many processes run at a time, as in make -j
}

function bad(at, why)
{
	printf "%s:%d: %s\n", FILENAME, at, why
	found = 1
}

function check_file()
{
	if (is_code && lines && !spdx) {
		printf "%s:1: no SPDX-License-Identifier line\n", file
		found = 1
	}
	if (lines > 700) {
		printf "%s:%d: %d lines; a file is one subject in at most 700\n", file, lines, lines
		found = 1
	}
}

# Check the words of an identifier, split at _ and between a small letter and a capital.
function check_words(text, what,    part, n, i)
{
	gsub(/[^A-Za-z0-9]+/, " ", text)
	while (match(text, /[a-z0-9][A-Z]/))
		text = substr(text, 1, RSTART) " " substr(text, RSTART + 1)
	n = split(tolower(text), part, " ")
	for (i = 1; i <= n; i++)
		if (part[i] in banned)
			bad(FNR, "the word \"" banned[part[i]] "\" in " what)
}

FNR == 1 {
	if (file != "")
		check_file()
	file = FILENAME
	spdx = 0
	body = 0
	strip_reset()
	is_c = FILENAME ~ /\.[chS]$/
	is_code = is_c || FILENAME ~ /\.(sh|mk|awk|map|py)$|(^|\/)Makefile$|^\.ci\/run$|^\.clang-tidy$/
	check_words(FILENAME, "a file's name")
}

{
	lines = is_code ? FNR : 0
}

/SPDX-License-Identifier: MIT/ && FNR <= 3 {
	spdx = 1
}

/\/wor[k]\/|\/hom[e]\/[a-z]|\/roo[t]\/|\/User[s]\// {
	bad(FNR, "a path of somebody's machine")
}
is_code && /(^|[^A-Za-z0-9_])(TOD[O]|FIXM[E]|XX[X]|HAC[K])([^A-Za-z0-9_]|$)/ {
	bad(FNR, "a mark for later: do it, or leave it out")
}

is_c {
	code = strip($0)
	if (code !~ /^[ \t]*#[ \t]*include/)
		check_words(code, "an identifier")
	if ($0 ~ /^{/)
		body = FNR
	else if ($0 ~ /^}/ && body) {
		if (FNR - body > 61)
			bad(body, "a function of " FNR - body - 1 " lines; at most 60")
		body = 0
	}
}

# fiber_once_flag is a second tag of one struct, which C allows only with a macro.
# fiber_layout.h describes the registry for readers; its names have FIB_, as in the tools.
FILENAME ~ /^libfiber\/include\// && code ~ /^[ \t]*#[ \t]*define/ && code !~ /define[ \t]+FIBER_/ &&
code !~ /define[ \t]+fiber_once_flag fiber_once$/ && !(FILENAME ~ /fiber_layout\.h$/ && code ~ /define[ \t]+FIB_/) {
	bad(FNR, "a public macro that does not begin with FIBER_")
}

END {
	check_file()
	exit found
}
