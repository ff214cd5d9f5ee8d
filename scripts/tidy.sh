#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tidy.sh FLAG... - run the formatter and the linters on the whole tree; FLAG: options for the preprocessor
#
# Runs clang-format on all C files, clang-tidy (.clang-tidy) on the files that this machine can compile, cppcheck (cppcheck.cfg,
# cppcheck.txt), the shell's -n on scripts, and mandoc on man pages. Changes no file. Prints their output and "tidy: ok", or the
# names of those that failed.
#
# FILES="a.c b.c": check only these, with clang-format and clang-tidy. JOBS: the number of linters at a time. TIDY_NODES: the
# number of states that clang's analyzer, which takes nearly all of the time, visits per function; default: clang's own. A
# function with more states is analyzed in part, by the same checks.
set -u
JOBS=${JOBS:-$(nproc)}
TIDY_NODES=${TIDY_NODES:-225000}
cd "$(dirname "$0")/.." || exit 1

failed=
result() {
	[ "$1" -eq 0 ] || failed="$failed $2"
}

for tool in clang-format clang-tidy cppcheck mandoc; do
	command -v $tool >/dev/null 2>&1 || {
		echo "tidy: $tool is missing: run 'make deps'" >&2
		exit 1
	}
done

folders=
for folder in libfiber libfiber-backtrace libfiber-posix libfiber-tls libfiber-win32 libfiber-test inspect tool fiberctl fibertrace fiberize fixtures examples bench tests contrib; do
	[ ! -d $folder ] || folders="$folders $folder"
done
# shellcheck disable=SC2086 # these lists, here and below, must be split into words
all=${FILES:-$(find $folders -name '*.[ch]' | sort)}

clang-format --dry-run -Werror $all
result $? clang-format

# A port is checked with its own frame.h, and only on a machine that has its instructions.
can_compile() {
	case $1 in
	*.h) return 1 ;;
	libfiber/arch/generic/* | "libfiber/arch/$(uname -m)/"* | "tests/arch/$(uname -m)/"* | tests/arch/walk/*) return 0 ;;
	libfiber/arch/* | tests/arch/*/*) return 1 ;;
	libfiber/os/bsd/* | libfiber/os/freebsd/* | libfiber/os/macos/*) return 1 ;; # needs their headers: make check-systems
	fixtures/sanitizers/*) return 1 ;; # contains defects for the sanitizers to find
	bench/peers/*) return 1 ;; # needs packages of `make deps-bench`
	contrib/ruby/bench/*) return 0 ;;
	contrib/ruby/*) command -v ruby >/dev/null; return ;;
	esac
}
for file in $all; do
	! can_compile "$file" || echo "$file"
done | xargs -P "$JOBS" -n 4 sh -c '
	flags="$1 -Xclang -analyzer-config -Xclang max-nodes=$2"
	shift 2
	for file; do
		port=
		case $file in
		libfiber/arch/*) port=-I${file%/*} ;;
		contrib/ruby/*.c) port=$(ruby -rrbconfig -e "puts RbConfig::CONFIG.values_at(%q(rubyhdrdir), %q(rubyarchhdrdir)).map { |d| %q(-isystem ) + d }" | tr "\\n" " ") ;;
		libfiber/poll/kqueue/* | tests/kqueue/*) port=-Itests/kqueue ;;
		libfiber-posix/* | tests/unit/libfiber-posix/* | tests/posix/* | examples/*_posix.c | bench/posix*.c)
			port="-Ilibfiber-posix -Ilibfiber-posix/include -I/usr/include/postgresql -I/usr/include/mariadb -I/usr/include/libxml2 -DPOSTGRES=\"\" -DNGINX=\"\" -DMARIADB=\"\"" ;;
		libfiber-tls/* | tests/unit/libfiber-tls/* | tests/system/test_tls_peers.c | fixtures/httpd.c | examples/*_tls.c) port=-Ilibfiber-tls/include ;;
		libfiber-win32/* | tests/unit/libfiber-win32/* | fixtures/win32.c | examples/*_win32_copy.c) port="-Ilibfiber-win32 -Ilibfiber-win32/include" ;;
		bench/model/*) port="-Ibench/model/seams -Ilibfiber-test" ;;
		libfiber-test/* | fixtures/bugs/* | fixtures/reports/* | tests/explore/* | tests/memory/* | tests/harness/single/* | tests/fuzz/fuzz_settings.c | tests/fuzz/fuzz_token.c | examples/2?_test* | bench/linearizable.c | bench/test_echo.c | bench/explored/isolated.c | bench/explored/three.c | bench/explored/seen.c)
			port="-Ilibfiber-test/seams -Ilibfiber-test -Ilibfiber-test/include" ;;
		esac
		clang-tidy --quiet "$file" -- $port $flags -std=gnu11 2>&1 |
			grep -v -E "^[0-9]+ warnings? (generated|treated)|^Suppressed|^Use -header-filter|^$" |
			grep . && failed=1
	done
	exit ${failed:-0}' tidy "$*" "$TIDY_NODES"
result $? clang-tidy

if [ -z "${FILES-}" ]; then
	cppcheck -q -j "$JOBS" --std=c11 --error-exitcode=1 --enable=warning,performance,portability \
		--library=scripts/cppcheck.cfg --inline-suppr --suppressions-list=scripts/cppcheck.txt "$@" $folders
	result $? cppcheck

	for script in scripts/*.sh .ci/run; do
		[ ! -f "$script" ] || $(sed -n '1s/^#!.*[ /]//p' "$script") -n "$script"
		result $? "sh:$script"
	done

	for page in man/*.[1-9]; do
		[ ! -f "$page" ] || mandoc -T lint -W warning "$page"
		result $? "mandoc:$page"
	done
fi

if [ -n "$failed" ]; then
	echo "tidy: not clean:$failed" >&2
	exit 1
fi
echo "tidy: ok"
