#!/bin/sh
# SPDX-License-Identifier: MIT
#
# check-names.sh BUILD | --self-test - check the rules for names and the size of files
#
#   symbols   libfiber.so exports fiber_* only; global symbols of libfiber.a are fiber_* or fib_*
#             neither contains a symbol of libfiber-test
#   words     no file name and no identifier has one of the banned words (names.awk)
#   files     at most 700 lines, functions at most 60; an SPDX line; no path of a developer's machine, no mark for later work
#   tests     libfiber/LAYER/FILE.c has tests/unit/LAYER/test_FILE.c (arch/ and os/ are tested through others)
#
# Prints each offence and fails, else prints "names: ok". BUILD is the folder that contains lib/libfiber.a.
# --self-test plants one offence of each kind of text in a temporary tree and checks that all are reported.
set -u
LC_ALL=C
export LC_ALL

scripts=$(cd "$(dirname "$0")" && pwd) || exit 1

# check_text ROOT: check words, lengths, SPDX lines and paths
check_text() (
	cd "$1" || exit 1
	# shellcheck disable=SC2046 # no file name of this project contains a blank
	awk -f "$scripts/strip.awk" -f "$scripts/names.awk" $(
		find libfiber libfiber-backtrace libfiber-posix libfiber-tls libfiber-win32 libfiber-test inspect tool fiberctl fibertrace fiberize fixtures examples bench tests scripts man docs packaging debian \
			Makefile README.md .ci .clang-tidy -type f 2>/dev/null | sort
	)
)

# check_tests ROOT: check that every file has a test of the same name
check_tests() (
	cd "$1" || exit 1
	missing=0
	for file in libfiber/*/*.c; do
		layer=${file#libfiber/}
		layer=${layer%%/*}
		test=tests/unit/$layer/test_${file##*/}
		case $layer in
		arch | os) continue ;;
		esac
		[ -f "$test" ] || {
			echo "$file: no test: $test"
			missing=1
		}
	done
	for file in libfiber-tls/*.c libfiber-win32/*.c; do
		test=tests/unit/${file%/*}/test_${file##*/}
		[ ! -f "$file" ] || [ -f "$test" ] || {
			echo "$file: no test: $test"
			missing=1
		}
	done
	return $missing
)

# check_symbols FILE PATTERN NM-OPTION...: check that every defined symbol matches PATTERN
check_symbols() {
	file=$1 pattern=$2
	shift 2
	nm "$@" --defined-only "$file" >"$list" || return 1
	# An absolute symbol of a shared library is the name of a version.
	awk -v file="$file" -v pattern="$pattern" '
		NF == 3 && $2 != "A" { sub("@.*", "", $3); seen++
			if ($3 !~ pattern) { print file ": " $3 " does not match " pattern; bad = 1 } }
		END { if (!seen) { print file ": no symbols"; bad = 1 } exit bad }' "$list"
}

# has_no_explorer FILE...: check that a library of production contains nothing of libfiber-test
has_no_explorer() {
	for file; do
		if nm "$file" 2>/dev/null | grep -E ' (fib_explore|fib_choice|fiber_test_)'; then
			echo "$file: contains symbols of libfiber-test"
			return 1
		fi
	done
}

# plant FILE CODE: add a file to the self-test's tree
plant() {
	mkdir -p "$tree/$(dirname "$1")"
	printf '%s\n' "$2" >"$tree/$1"
}

self_test() {
	tree=$(mktemp -d) || exit 1
	trap 'rm -rf "$tree"' EXIT
	spdx='/* SPDX-License-Identifier: MIT */'

	plant libfiber/core/good.c "$spdx
/* a common helper, a task */
const char *proc_path = \"/proc/self/task\";
int utility, commonly;"
	plant tests/unit/core/test_good.c "$spdx


"
	if ! out=$(check_text "$tree" && check_tests "$tree"); then
		echo "check-names: self-test: reported what is allowed:" >&2
		echo "$out" >&2
		exit 1
	fi
	plant libfiber/core/helpers.c "$spdx"
	plant libfiber/core/word.c "$spdx
int fib_task_count;"
	plant libfiber/core/camel.c "$spdx
int fiberManager;"
	plant libfiber/core/bare.c "int a;"
	plant libfiber/core/path.c "$spdx
const char *p = \"/hom""e/me\";"
	plant libfiber/core/later.c "$spdx
/* TO""DO */"
	plant libfiber/include/fiber/macro.h "$spdx
#define MAX 1"
	plant libfiber/core/long.c "$spdx
$(awk 'BEGIN { for (i = 0; i < 700; i++) print "int a" i ";" }')"
	plant libfiber/core/deep.c "$spdx
void f(void)
{
$(awk 'BEGIN { for (i = 0; i < 61; i++) print "\tf();" }')
}"
	out=$(check_text "$tree")
	for line in core/helpers.c:1: core/word.c:2: core/camel.c:2: core/bare.c:1: core/path.c:2: \
		core/later.c:2: include/fiber/macro.h:2: core/long.c:701: core/deep.c:3:; do
		case "
$out" in
		*"
libfiber/$line "*) ;;
		*)
			echo "check-names: self-test: planted and not found: $line" >&2
			exit 1
			;;
		esac
	done
	if [ "$(echo "$out" | wc -l)" -ne 9 ] || check_tests "$tree" >/dev/null; then
		echo "check-names: self-test: 9 offences and missing tests were planted, reported were:" >&2
		echo "$out" >&2
		exit 1
	fi
	echo "names: self-test ok: 9 planted offences and missing tests found"
}

if [ "${1-}" = --self-test ]; then
	self_test
	exit 0
fi
build=${1:?"check-names.sh: which build folder?"}
list=$(mktemp) || exit 1
trap 'rm -f "$list"' EXIT
result=0
check_text "$scripts/.." || result=1
check_tests "$scripts/.." || result=1
check_symbols "$build/lib/libfiber.so" '^fiber_' -D || result=1
[ ! -f "$build/lib/libfiber-tls.so" ] || check_symbols "$build/lib/libfiber-tls.so" '^fiber_tls_' -D || result=1
[ ! -f "$build/lib/libfiber-win32.a" ] || check_symbols "$build/lib/libfiber-win32.a" '^(fib_win32_|([A-Z][a-z]*)+$)' -g || result=1
has_no_explorer "$build/lib/libfiber.a" "$build/lib/libfiber.so" || result=1
check_symbols "$build/lib/libfiber.a" '^(fib(er)?_|_[.]stapsdt[.]base$)' -g || result=1
if [ $result -ne 0 ]; then
	echo "check-names: the rules of the house are in docs/contributing.md" >&2
	exit 1
fi
echo "names: ok"
