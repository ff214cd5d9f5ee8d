#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test-install.sh [BUILD] - install, use the installed files as a user would, uninstall, check that nothing is left
#
# Prints TAP. BUILD, or $FIBER_BUILD, is a finished build; nothing outside a temporary folder is written.
. "$(dirname "$0")/tap.sh"

make=${MAKE:-make}
unset MAKEFLAGS MFLAGS MAKELEVEL
HOME=${HOME:-$tmp} # gdb prints a warning about its cache if HOME is unset
export HOME
prefix=$tmp/prefix
stage=$tmp/stage
pid=    # of the program that the tools look at
server= # of fiberctl serve

finish() {
	for started in $pid $server; do
		kill "$started" 2>/dev/null
	done
	rm -rf "$tmp"
}
trap finish EXIT

# List all but folders: others may use the folders that install makes, so uninstall leaves them.
files_below() {
	(cd "$1" && find . ! -type d | sort)
}

installed_as_listed() {
	{
		echo ./bin/fiberctl
		echo ./bin/fiberize
		echo ./bin/fibertest
		echo ./bin/fibertrace
		(cd libfiber/include && find . -name '*.h' | sed 's|^\.|./include|')
		for variant in libfiber-asan libfiber-tsan; do
			echo "./lib/$variant.a"
			echo "./lib/$variant.so"
			echo "./lib/$variant.so.0"
			echo "./lib/pkgconfig/$variant.pc"
		done
		echo ./lib/libfiber-backtrace.a
		echo ./lib/libfiber-backtrace.so
		echo ./lib/libfiber-backtrace.so.0
		echo ./lib/libfiber-posix.a
		echo ./lib/libfiber-posix.so
		echo ./lib/libfiber-posix.so.0
		echo ./lib/pkgconfig/libfiber-posix.pc
		echo ./include/fiber/posix.h
		echo ./lib/libfiber-tls.a
		echo ./lib/libfiber-tls.so
		echo ./lib/libfiber-tls.so.0
		echo ./include/fiber/tls.h
		echo ./lib/libfiber-win32.a
		echo ./lib/libfiber-win32.so
		echo ./lib/libfiber-win32.so.0
		echo ./lib/pkgconfig/libfiber-win32.pc
		echo ./include/fiber/win32.h
		echo ./include/fiber/test.h
		echo ./lib/libfiber-test.a
		echo ./lib/libfiber-test.so
		echo ./lib/libfiber-test-memory.a
		echo ./lib/pkgconfig/libfiber-test.pc
		echo ./lib/pkgconfig/libfiber-test-memory.pc
		echo ./lib/libfiber.a
		echo ./lib/libfiber.so
		echo ./lib/libfiber.so.0
		echo ./lib/libfiber_pic.a
		echo ./lib/pkgconfig/libfiber-backtrace.pc
		echo ./lib/pkgconfig/libfiber-tls.pc
		echo ./lib/pkgconfig/libfiber.pc
		echo ./lib/cmake/libfiber/libfiber-config.cmake
		echo ./lib/cmake/libfiber/libfiber-config-version.cmake
		echo ./share/bash-completion/completions/fiberctl
		echo ./share/bash-completion/completions/fibertrace
		echo ./share/bash-completion/completions/fiberize
		echo ./share/bash-completion/completions/fibertest
		echo ./share/fish/vendor_completions.d/fiberctl.fish
		echo ./share/fish/vendor_completions.d/fibertrace.fish
		echo ./share/fish/vendor_completions.d/fiberize.fish
		echo ./share/fish/vendor_completions.d/fibertest.fish
		echo ./share/zsh/site-functions/_fiberctl
		echo ./share/zsh/site-functions/_fibertrace
		echo ./share/zsh/site-functions/_fiberize
		echo ./share/zsh/site-functions/_fibertest
		echo ./lib/systemd/system/libfiber-metrics.service
		echo ./lib/systemd/system/libfiber-metrics.timer
		echo ./lib/systemd/user/fiberctl-serve.service
		echo ./share/libfiber/libfiber-dashboard.json
		echo ./share/libfiber/libfiber-gdb.py
		echo ./share/libfiber/libfiber-rules.yml
		echo ./share/libfiber/libfiber.supp
		# In gdb's data folder, or beside the library.
		for library in libfiber libfiber-asan libfiber-tsan; do
			case $1 in
			*/usr) echo "./share/gdb/auto-load/usr/lib/$library.so.0-gdb.py" ;;
			*) echo "./lib/$library.so.0-gdb.py" ;;
			esac
		done
		for page in man/*.[137]; do
			[ -f "$page" ] || continue
			echo "./share/man/man${page##*.}/${page#man/}"
			sed -n "/^\.Sh SYNOPSIS/q; s|^\.Nm \([A-Za-z0-9_-]*\).*|./share/man/man${page##*.}/\1.${page##*.}|p" "$page"
		done
	} | sort -u >"$tmp/expected"
	files_below "$1" >"$tmp/found"
	diff "$tmp/expected" "$tmp/found"
}

# every_function_has_a_page PREFIX: check that each exported function has a page of its name, with it in SYNOPSIS
every_function_has_a_page() {
	nm -D --defined-only "$1/lib/libfiber.so" "$1/lib/libfiber-backtrace.so" "$1/lib/libfiber-tls.so" |
		sed -n 's/.* T \(fiber_[a-z_]*\)$/\1/p' | sort -u >"$tmp/functions"
	[ -s "$tmp/functions" ] || return 1
	while read -r function; do
		mandoc -T utf8 "$1/share/man/man3/$function.3" | col -b | grep -q "^NAME" &&
			grep -qx "\.F[no] $function.*" "$1/share/man/man3/$function.3" || {
			echo "no page of $function"
			return 1
		}
	done <"$tmp/functions"
}

nothing_left() {
	files_below "$1" >"$tmp/found"
	[ ! -s "$tmp/found" ] || {
		echo "left behind:"
		cat "$tmp/found"
		return 1
	}
	[ ! -d "$2/include/fiber" ]
}

cat >"$tmp/own.c" <<'END'
#include <fiber.h>
#include <stdio.h>

static struct fiber_mutex lock;
static int total;

static void *add(void *arg)
{
	fiber_mutex_lock(&lock, FIBER_FOREVER);
	fiber_sleep(1000000);
	total += *(int *)arg;
	fiber_mutex_unlock(&lock);
	return NULL;
}

static void *stay(void *arg)
{
	(void)arg;
	fiber_set_name(fiber_self(), "own-waiter");
	fiber_park(FIBER_FOREVER);
	return NULL;
}

static void *start(void *arg)
{
	int numbers[] = {1, 2, 3};
	struct fiber *fibers[3];

	for (int i = 0; i < 3; i++)
		if (fiber_spawn(add, &numbers[i], &fibers[i]) < 0)
			return NULL;
	for (int i = 0; i < 3; i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	printf("total %d\n", total);
	fflush(stdout);
	return *(int *)arg > 1 ? stay(NULL) : NULL;
}

int main(int argc, char **argv)
{
	(void)argv;
	return fiber_run(start, &argc, NULL, NULL) < 0;
}
END

cat >"$tmp/wide.c" <<'END'
#include <fiber.h>

static volatile char *frame;

static __attribute__((noinline)) void take(size_t bytes)
{
	char array[bytes];

	frame = array;
	frame[0] = 1;
}

static void *start(void *arg)
{
	fiber_set_name(fiber_self(), "wide");
	take(1 << 20);
	return arg;
}

int main(void)
{
	return fiber_run(start, NULL, NULL, NULL) < 0;
}
END

# compile_own OUTPUT PKG-CONFIG-OPTION CC-OPTION...: compile own.c against the installed library
compile_own() {
	output=$1 option=$2
	shift 2
	# shellcheck disable=SC2046 # flags must be split
	"$cc" -g -std=c11 -pedantic -Wall -Werror -o "$output" "$tmp/own.c" "$@" \
		$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs $option libfiber)
}

# whole_program: check that the installed fibertest explores a program with the installed shared library
whole_program() {
	LD_LIBRARY_PATH=$prefix/lib timeout 60 "$prefix/bin/fibertest" --schedules 50 "$tmp/shared" >"$tmp/found" 2>&1
	[ $? -eq 0 ] && cat "$tmp/found" && grep -qx 'fiber-test: shared: passed: 50 schedules' "$tmp/found"
}

# test_library: check that a test links with the installed libfiber-test and finds its deadlock
test_library() {
	# shellcheck disable=SC2046 # flags must be split
	"$cc" -g -o "$tmp/explored" fixtures/bugs/deadlock_ab_ba.c \
		$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs libfiber-test) || return 1
	timeout 60 "$tmp/explored" bug >"$tmp/found"
	[ $? -eq 1 ] && cat "$tmp/found" && grep -q '^fiber-test: bug: deadlock: 2 fibers wait for each other in a cycle$' "$tmp/found"
}

# posix: check that code that blocks parks with the installed libfiber-posix, shared or in a static program
posix() {
	# shellcheck disable=SC2046 # flags must be split
	"$cc" -g -D_GNU_SOURCE -o "$tmp/posix" examples/23_posix.c "$@" \
		$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs ${1:+--static} libfiber-posix) || return 1
	LD_LIBRARY_PATH=$prefix/lib timeout 20 "$tmp/posix" >"$tmp/found"
	[ $? -eq 0 ] && cat "$tmp/found" && [ "$(sort -u "$tmp/found")" = "1 + 4 + ... + 100 = 385" ]
}

# win32: check that source for Windows compiles with the installed libfiber-win32, shared or in a static program, and copies a file
win32() {
	# shellcheck disable=SC2046 # flags must be split
	"$cc" -g -D_GNU_SOURCE -o "$tmp/win32" examples/25_win32_copy.c "$@" \
		$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs ${1:+--static} libfiber-win32) || return 1
	LD_LIBRARY_PATH=$prefix/lib timeout 20 "$tmp/win32" "$tmp/win32" "$tmp/win32.copy" && cmp "$tmp/win32" "$tmp/win32.copy"
}

# test_memory: check that an object compiled for it links with the installed libfiber-test-memory, and its race is found
test_memory() {
	# shellcheck disable=SC2046 # flags must be split
	"$cc" -g -fsanitize=thread -c -o "$tmp/seen.o" examples/27_test_memory.c \
		$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags libfiber-test-memory) &&
		"$cc" -o "$tmp/seen" "$tmp/seen.o" \
			$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --libs libfiber-test-memory) || return 1
	timeout 60 "$tmp/seen" unlocked >"$tmp/found"
	[ $? -eq 1 ] && cat "$tmp/found" && grep -q '^fiber-test: unlocked: race: fiber 3 reads 4 bytes in count' "$tmp/found"
}

adds_up() {
	[ "$(LD_LIBRARY_PATH=$prefix/lib timeout 20 "$1")" = "total 6" ]
}

uses_shared() {
	LD_LIBRARY_PATH=$prefix/lib ldd "$tmp/shared" | grep -F "$prefix/lib/libfiber.so.0"
}

# hardening: check the hardening flags that libfiber.pc offers, and that they work with this compiler
hardening() {
	flags=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --variable=hardening libfiber) && echo "$flags" &&
		[ "$flags" = -fstack-clash-protection ] && touches_each_page "$tmp/wide-hardened" "$flags" &&
		! touches_each_page "$tmp/wide-plain" -fno-stack-clash-protection
}

# touches_each_page OUTPUT CC-OPTION...: check that a frame of 1 MiB faults in the guard of the fiber's own stack
touches_each_page() {
	output=$1
	shift
	# shellcheck disable=SC2046 # flags must be split
	"$cc" -O2 -o "$output" "$tmp/wide.c" "$@" \
		$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs libfiber) || return 1
	LD_LIBRARY_PATH=$prefix/lib timeout 20 "$output" 2>"$tmp/wide" || :
	grep -F '"wide" overflowed its stack of 262144 bytes (fault at' "$tmp/wide"
}

# examples_build: check that examples/Makefile has a rule for each example; build the first and the one with another library
examples_build() {
	mkdir -p "$tmp/examples" || return 1
	PKG_CONFIG_PATH=$prefix/lib/pkgconfig
	export PKG_CONFIG_PATH
	"$make" -n -C examples OUT="$tmp/examples" CC="$cc" >"$tmp/make" &&
		[ "$(grep -c -e ' -fstack-clash-protection ' "$tmp/make")" = "$(find examples -name '*.c' -o -name '*.cpp' | wc -l)" ] &&
		"$make" -s -C examples OUT="$tmp/examples" CC="$cc" "$tmp/examples/01_hello" "$tmp/examples/15_backtrace" "$tmp/examples/raii" &&
		[ "$(LD_LIBRARY_PATH=$prefix/lib timeout 20 "$tmp/examples/raii")" = "left early, total 6" ] &&
		LD_LIBRARY_PATH=$prefix/lib timeout 20 "$tmp/examples/01_hello"
	said=$?
	unset PKG_CONFIG_PATH
	return $said
}

# examples_say_what_is_missing: check the error message of examples/Makefile without libfiber
examples_say_what_is_missing() {
	! PKG_CONFIG_LIBDIR=$tmp/none PKG_CONFIG_PATH='' "$make" -s -C examples OUT="$tmp/examples" >"$tmp/make" 2>&1 &&
		cat "$tmp/make" && grep -q 'pkg-config does not find libfiber' "$tmp/make"
}

# control_lists, control_walks, trace_sees: check that the installed tools show the program's one waiting fiber
control_lists() {
	"$prefix/bin/fiberctl" list "$tmp/own.sock" >"$tmp/list" && cat "$tmp/list" &&
		grep -Eq '^ *1 suspended .* park .*own-waiter$' "$tmp/list" &&
		tail -n 1 "$tmp/list" | grep -q '^shown 1 of 1 fiber, sampled over '
}

control_walks() {
	"$prefix/bin/fiberctl" bt "$tmp/own.sock" 1 >"$tmp/bt" && cat "$tmp/bt" &&
		grep -q '^fiber 1 "own-waiter" \[suspended: park, ' "$tmp/bt" &&
		grep -Eq '^  #[0-9]+ +stay.* at .*own\.c:[0-9]+$' "$tmp/bt"
}

trace_sees() {
	"$prefix/bin/fibertrace" "$pid" >"$tmp/trace" && cat "$tmp/trace" &&
		grep -q '^1 fiber \[suspended: park, .* "own-waiter"$' "$tmp/trace" &&
		grep -Eq '^  #[0-9]+ +stay.* at .*own\.c:[0-9]+$' "$tmp/trace"
}

# Check that the dashboard shows each metric of the program, and that it and the rules name only metrics of the program and
# records of the rules. Each record is used.
dashboard_shows_the_numbers() {
	share=$prefix/share/libfiber
	"$prefix/bin/fiberctl" metrics "$tmp/own.sock" >"$tmp/metrics" || return 1
	python3 -B - "$tmp/metrics" "$share/libfiber-dashboard.json" "$share/libfiber-rules.yml" <<'END'
import json, re, sys
def text(number):
    with open(sys.argv[number], encoding="utf-8") as file:
        return file.read()
def names(expressions):
    found = re.findall(r"[a-z]+:libfiber_[\w:]+|libfiber_\w+", expressions)
    return {name if ":" in name else re.sub("_(bucket|sum|count)$", "", name) for name in found}
there = set(re.findall(r"^# HELP (\w+)", text(1), re.M))
board = json.loads(text(2))
rules = re.sub("(?m)^ *#.*", "", text(3))
recorded = set(re.findall(r"- record: (\S+)", rules))
judged = names(re.sub("(?s)annotations:.*?(?=- alert:|- name:|$)|- record: .*?\n", "", rules))
panels = [p for p in board["panels"] if p["type"] != "row"]
shown = names(" ".join(t["expr"] for p in panels for t in p["targets"]))
assert {name for name in shown if ":" not in name} == there, shown ^ there
assert shown | judged <= there | recorded, (shown | judged) - there - recorded
assert recorded <= shown | judged, recorded - shown - judged
assert board["uid"] and board["templating"]["list"][0]["type"] == "datasource"
assert all(p["datasource"]["uid"] == "${datasource}" for p in panels)
ids = [p["id"] for p in board["panels"]]
assert len(set(ids)) == len(ids)
END
}

# Check that the timer's service runs the installed fiberctl, and that systemd, if installed, accepts both units.
units_are_understood() {
	units=$1/lib/systemd/system
	grep -q "^ExecStart=$2/bin/fiberctl metrics --output " "$units/libfiber-metrics.service" || return 1
	! grep @ "$units"/libfiber-metrics.* || return 1
	! command -v systemd-analyze >/dev/null ||
		systemd-analyze --man=no verify "$units/libfiber-metrics.service" "$units/libfiber-metrics.timer"
}

# Check that systemd, if installed, accepts the unit of users, and that its command line serves at a socket of its user alone.
user_unit_serves() {
	unit=$1/lib/systemd/user/fiberctl-serve.service
	! grep @PREFIX@ "$unit" || return 1
	! command -v systemd-analyze >/dev/null ||
		XDG_RUNTIME_DIR=$tmp systemd-analyze --man=no --user verify "$unit" || return 1
	LISTEN=$(sed -n "s|^Environment=LISTEN=||p" "$unit" | sed "s|%t|$tmp|") OPTIONS=
	[ "$LISTEN" = "unix:$tmp/fiberctl-serve.sock" ] || return 1
	eval "XDG_RUNTIME_DIR=$tmp $(sed -n 's|^ExecStart=||p' "$unit") >$tmp/said &"
	server=$!
	timeout 20 sh -c "until grep -q '^fiberctl: serving on ' $tmp/said; do sleep 0.05; done" || return 1
	[ "$(stat -c %a "$tmp/fiberctl-serve.sock")" = 600 ] &&
		[ "$(curl -s --unix-socket "$tmp/fiberctl-serve.sock" http://localhost/healthz)" = ok ] || return 1
	kill "$server" && wait "$server" && server= && [ ! -e "$tmp/fiberctl-serve.sock" ]
}

# gdb_knows PROGRAM GDB-OPTION...: check that gdb shows its fibers without a command to load a script
gdb_knows() {
	program=$1
	shift
	LD_LIBRARY_PATH=$prefix/lib gdb -nx -batch -iex "set debuginfod enabled off" "$@" "$program" -ex "set confirm off" \
		-ex "set breakpoint pending on" -ex "break fiber_park" -ex "run wait" -ex "info fibers" -ex kill >"$tmp/gdb" 2>&1
	cat "$tmp/gdb"
	grep -q '^shown 1 of 1 fiber$' "$tmp/gdb"
}

# gdb_asks PROGRAM: check that gdb names its safe-path if that does not include the installed script
gdb_asks() {
	! gdb_knows "$1" && grep -q 'auto-loading has been declined by your .auto-load safe-path' "$tmp/gdb"
}

# apart: strip the static program and put its debug file into a folder by build-id, as distributions do
apart() {
	objcopy --only-keep-debug "$tmp/static" "$tmp/static.debug" && strip -o "$tmp/bare" "$tmp/static" || return 1
	number=$(readelf -n "$tmp/static.debug" 2>&1 | sed -n 's/.*Build ID: //p')
	rest=${number#??}
	mkdir -p "$tmp/debug/.build-id/${number%"$rest"}" &&
		mv "$tmp/static.debug" "$tmp/debug/.build-id/${number%"$rest"}/$rest.debug"
}

# gdb_is_quiet: check that gdb prints nothing about a stripped program that is not in its safe-path
gdb_is_quiet() {
	gdb -nx -batch -iex "set debuginfod enabled off" -iex "set debug-file-directory $tmp/none" "$tmp/bare" >"$tmp/gdb" 2>&1
	cat "$tmp/gdb"
	[ ! -s "$tmp/gdb" ]
}

# staged OUTPUT: compile against an installation in DESTDIR, as a packager does, and run the program
staged() {
	# shellcheck disable=SC2046 # flags must be split
	"$cc" -g -std=c11 -pedantic -Wall -Werror -o "$1" "$tmp/own.c" $(
		PKG_CONFIG_PATH=$stage/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$stage \
			PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 \
			pkg-config --cflags --libs libfiber
	) && [ "$(LD_LIBRARY_PATH=$stage/usr/lib timeout 20 "$1")" = "total 6" ]
}

prove "make install succeeds" "$make" -s install BUILD="$build" PREFIX="$prefix" DESTDIR=
prove "make install puts every file where it belongs and no other" installed_as_listed "$prefix"
prove "every function has a manual page under its name" every_function_has_a_page "$prefix"
prove "a program compiles with pkg-config libfiber" compile_own "$tmp/shared" --print-errors
sed -n '/^```c$/,/^```$/p' README.md | sed '/^```/d' >"$tmp/readme.c"
prove "the program in the README compiles" "$cc" -std=c11 -pedantic -Wall -Wextra -Werror -I"$prefix/include" \
	-fsyntax-only "$tmp/readme.c"
prove "pkg-config --variable=hardening libfiber is what keeps frames from stepping over guards" hardening
prove "the examples build with their Makefile against what was installed" examples_build
prove "and where nothing is installed it says so" examples_say_what_is_missing
prove "it uses the installed shared library" uses_shared
prove "it runs" adds_up "$tmp/shared"
prove "a program compiles with pkg-config --static libfiber" compile_own "$tmp/static" --static -static
prove "it runs without the shared library" adds_up "$tmp/static"
prove "code that blocks parks with pkg-config libfiber-posix" posix
prove "and with pkg-config --static libfiber-posix" posix -static
prove "source for Windows runs with pkg-config libfiber-win32" win32
prove "and with pkg-config --static libfiber-win32" win32 -static
prove "a test compiles with pkg-config libfiber-test and finds its deadlock" test_library
prove "the installed fibertest explores a program that knows nothing of tests" whole_program
prove "a test compiles with pkg-config libfiber-test-memory and finds its race" test_memory

LD_LIBRARY_PATH=$prefix/lib FIBER_CONTROL=rw FIBER_CONTROL_PATH=$tmp/own.sock \
	"$tmp/shared" wait >"$tmp/total" &
pid=$!
for try in $(seq 100); do # "total" is printed just before the fiber parks
	control_lists >/dev/null 2>&1 && break
	sleep 0.1
done
prove "the installed fiberctl lists the program's fiber (look $try)" control_lists
prove "the installed fiberctl shows where it waits" control_walks
prove "the installed fibertrace shows where it waits" trace_sees
prove "the installed dashboard shows the numbers that there are" dashboard_shows_the_numbers
prove "the installed timer and its service are well-formed" units_are_understood "$prefix" "$prefix"
prove "the installed unit of users serves at a socket of its user" user_unit_serves "$prefix"
kill "$pid"
wait "$pid" 2>/dev/null
pid=
prove "gdb knows fibers by itself where its safe-path has the library" gdb_knows "$tmp/shared" \
	-iex "add-auto-load-safe-path $prefix"
prove "and where it has a program that is linked with the archive" gdb_knows "$tmp/static" \
	-iex "add-auto-load-safe-path $tmp/static"
prove "and where it has the debug file of one that is stripped" eval 'apart && gdb_knows "$tmp/bare" \
	-iex "set debug-file-directory $tmp/debug" -iex "add-auto-load-safe-path $tmp/debug"'
prove "and else it says what to add" gdb_asks "$tmp/shared"
prove "or nothing, of a program that is stripped" gdb_is_quiet

prove "make uninstall succeeds" "$make" -s uninstall BUILD="$build" PREFIX="$prefix" DESTDIR=
prove "make uninstall leaves nothing" nothing_left "$prefix" "$prefix"

prove "make install with DESTDIR succeeds" "$make" -s install BUILD="$build" PREFIX=/usr DESTDIR="$stage"
prove "DESTDIR holds the same files" installed_as_listed "$stage/usr"
prove "DESTDIR is not in libfiber.pc" grep -qx 'prefix=/usr' "$stage/usr/lib/pkgconfig/libfiber.pc"
prove "a program compiles with PKG_CONFIG_SYSROOT_DIR and runs" staged "$tmp/staged"
echo mine >"$stage/usr/lib/other.so"
prove "make uninstall with DESTDIR succeeds" "$make" -s uninstall BUILD="$build" PREFIX=/usr DESTDIR="$stage"
prove "make uninstall leaves what is not its own" rm "$stage/usr/lib/other.so"
prove "make uninstall with DESTDIR leaves nothing else" nothing_left "$stage" "$stage/usr"

echo "1..$count"
exit $failed
