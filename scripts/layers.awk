# SPDX-License-Identifier: MIT
#
# layers.awk - print every line that breaks a rule of check-layers.sh, as FILE:LINE: what: why
#
# Loaded after strip.awk. The files are named by their path from the root of the tree.

BEGIN {
	split("base wire layout arch os context stack poll core sched wait life watch sync io service runtime", name)
	split("0    0    0      1    2  3       4     4    5    6     7    8    9     10   11 12      13", number)
	for (i in name)
		layer[name[i]] = number[i]
	split("text elf model unwind process symbols corefile values source threads query recording waits leaks why render", room)
	split("0    1   2     3      3       4       4        5      5      5       6     6         7     8     9   10", storey)
	for (i in room)
		floor[room[i]] = storey[i]
	# The folders of tool/.
	above["tool"] = 0
	above["tool/completion"] = 1
	above["tool/cmd"] = 2
	# The folders of libfiber-posix/. <fiber/posix.h> is in include/.
	deep["system"] = 0
	deep["call"] = 1
	deep["threads"] = 2
	deep["streams"] = 3
	deep["entry"] = 4
	# Headers whose folder is chosen by a -I option.
	chosen["frame.h"] = "arch"
	chosen["ticks.h"] = "arch"
	chosen["thread_pointer.h"] = "arch"
	chosen["announce.h"] = "context"
	chosen["probe.h"] = "base"
	chosen["checker.h"] = "base"
	chosen["choice.h"] = "base"
	chosen["carriers.h"] = "runtime"
	chosen["reserve.h"] = "stack"
	# Which folders code outside libfiber/ may include, besides its own; * is every folder.
	split("layout wire", seen)
	for (i in seen) {
		sees["inspect", seen[i]] = 1
		sees["fiberctl", seen[i]] = 1
		sees["fibertrace", seen[i]] = 1
		sees["tool", seen[i]] = 1
		sees["libfiber-backtrace", seen[i]] = 1
		sees["libfiber-posix", seen[i]] = 1
	}
	sees["tool", "inspect"] = sees["fiberctl", "inspect"] = sees["fibertrace", "inspect"] = 1
	sees["fiberctl", "tool"] = sees["fibertrace", "tool"] = 1
	sees["fiberize", "inspect"] = 1
	# libfiber-test replaces files of many layers.
	sees["tests", "*"] = sees["bench", "*"] = sees["libfiber-test", "*"] = 1
}

function bad(why)
{
	printf "%s:%d: %s\n", FILENAME, FNR, why
	found = 1
}

# Returns the place of a file: a layer, "include" (public headers), a folder of inspect/ or a top folder.
function place_of(path,    part, n)
{
	n = split(path, part, "/")
	return (part[1] == "libfiber" || part[1] == "inspect") && n > 2 ? part[2] : part[1]
}

# Check an include within inspect/: a folder may include itself and folders with a smaller number.
function check_room(header, to)
{
	if (!(to in floor))
		bad("\"" header "\": inspect/ has no room " to)
	else if (to != place && floor[to] >= floor[place])
		bad("\"" header "\": includes point down, and " to "/ (" floor[to] ") is not below " place "/ (" \
		    floor[place] ")")
}

# Returns the folder of a file or header of tool/.
function folder_of(path)
{
	sub("/[^/]*$", "", path)
	return path
}

# Check an include within tool/: a folder may include itself and folders with a smaller number.
function check_tool(header,    from, to)
{
	from = folder_of(FILENAME)
	to = folder_of(header)
	if (!(to in above))
		bad("\"" header "\": tool/ has no folder " to)
	else if (to != from && above[to] >= above[from])
		bad("\"" header "\": includes point down, and " to "/ is not below " from "/")
}

# Check an include within libfiber-posix/: a folder may include itself and folders with a smaller number.
function check_posix(header, to,    part)
{
	split(FILENAME, part, "/")
	if (to != part[2] && deep[to] >= deep[part[2]])
		bad("\"" header "\": includes point down, and " to "/ is not below " part[2] "/")
}

# Returns the folder of a file of libfiber-posix/, or "".
function place_in_posix(    part)
{
	split(FILENAME, part, "/")
	return part[2] in deep || part[2] == "include" ? part[2] : ""
}

function check_include(header, angle,    part, n, to, known)
{
	n = split(header, part, "/")
	to = n > 1 ? part[1] : ""
	known = to in layer || to == "inspect" || to == "tool" || to == "fiberctl" || to == "fibertrace" || to == "fiberize"
	if (angle) {
		if (header == "stdatomic.h" && FILENAME != "libfiber/base/atomic.h" && top != "tests" &&
		    top != "bench" && top != "fixtures")
			bad("<stdatomic.h>: only base/atomic.h opens that door")
		if (to in layer && place != "include")
			bad("<" header ">: headers of a layer are included in quotes")
		return
	}
	if (place == "include") {
		bad("\"" header "\": a public header includes <fiber/...> and the system's only")
		return
	}
	if (top == "libfiber-posix" && to in deep) {
		check_posix(header, to)
		return
	}
	# It has inline functions of the port alone.
	if (top == "libfiber-posix" && header == "thread_pointer.h")
		return
	if (header in chosen)
		to = chosen[header]
	else if (to == "")
		return # a header in the file's own folder
	else if (!known && top != "libfiber")
		return # a path below its own folder
	if (top == "inspect" && to == "inspect") {
		check_room(header, n > 2 ? part[2] : "itself")
		return
	}
	if (top == "tool" && to == "tool") {
		check_tool(header)
		return
	}
	if (top != "libfiber") {
		if (to != top && !((top, to) in sees) && !((top, "*") in sees))
			bad("\"" header "\": " top "/ may not see " to "/")
		return
	}
	if (!(to in layer)) {
		bad("\"" header "\": libfiber/ has no layer " to)
		return
	}
	if (to == place)
		return
	if (place == "layout" || place == "wire")
		bad("\"" header "\": " place "/ is linked into the tools and knows nothing else")
	else if (layer[to] >= layer[place])
		bad("\"" header "\": includes point down, and " to "/ (" layer[to] ") is not below " place "/ (" \
		    layer[place] ")")
}

FNR == 1 {
	strip_reset()
	place = place_of(FILENAME)
	top = FILENAME
	sub("/.*", "", top)
	if (top == "libfiber" && place != "include" && !(place in layer))
		bad("libfiber/" place " is no layer of the design")
	if (top == "tool" && !(folder_of(FILENAME) in above))
		bad("tool/ has no folder for it: see docs/architecture.md")
	if (top == "libfiber-posix" && place_in_posix() == "")
		bad("libfiber-posix/ has no folder for it: see docs/architecture.md")
	if (top == "inspect" && !(place in floor))
		bad("inspect/ has no room for it: see docs/architecture.md")
	free_errno = top != "libfiber" || place == "os" || place == "poll" ||
		FILENAME == "libfiber/wire/client.c"
	free_if = top != "libfiber" || place == "arch" || place == "os" || place == "poll" ||
		FILENAME ~ "^libfiber/context/announce/" || FILENAME == "libfiber/base/compiler.h"
}

{
	raw = $0
	was_open = strip_open
	code = strip($0)
}

!was_open && raw ~ /^[ \t]*#[ \t]*include[ \t]*["<]/ {
	header = raw
	sub(/^[ \t]*#[ \t]*include[ \t]*/, "", header)
	angle = substr(header, 1, 1) == "<"
	header = substr(header, 2)
	sub(/[">].*/, "", header)
	check_include(header, angle)
	next
}

!free_errno && code ~ /(^|[^A-Za-z0-9_])(errno|__errno_location|perror)([^A-Za-z0-9_]|$)/ {
	bad("errno is a word of os/, poll/ and the tools: call a leaf that returns the negative number")
}

top == "libfiber" && FILENAME != "libfiber/base/tls.c" &&
code ~ /(^|[^A-Za-z0-9_])(_Thread_local|thread_local|__thread)([^A-Za-z0-9_]|$)/ {
	bad("a thread-local outside base/tls.c")
}

!free_if && code ~ /^[ \t]*#[ \t]*(if|elif)/ &&
code ~ /__linux__|__x86_64__|__aarch64__|__i386__|__riscv|__SANITIZE_|__has_feature|__APPLE__|_WIN32|__FreeBSD__/ {
	bad("a choice in shared code: make it by which files are compiled")
}

(top == "inspect" || top == "tool" || top == "fiberctl" || top == "fibertrace") &&
FILENAME !~ "^inspect/(text/json_put|render/render_page).c$" && code ~ /(^|[^A-Za-z0-9_])json_dump/ {
	bad("JSON is written by inspect/text/json_put.h, which escapes what a terminal obeys")
}

END {
	exit found
}
