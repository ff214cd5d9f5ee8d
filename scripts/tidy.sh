#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tidy.sh FLAG... - the formatter and the linters over the whole tree; FLAGs are the preprocessor's
#
# clang-format on all C, clang-tidy (.clang-tidy) on what this machine can compile, cppcheck (cppcheck.cfg, cppcheck.txt),
# the shell's -n on scripts, mandoc on man pages. Changes nothing. Prints what each has to say and "tidy: ok", or names those
# that failed. FILES="a.c b.c" in the environment limits clang-format and clang-tidy to these. JOBS: how many linters run at a
# time. TIDY_NODES: how many states clang's analyzer, which takes nearly all of the time, visits in one function; by
# default as many as clang does. A function that has more is analyzed in part, by the same checks.
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
for folder in libfiber libfiber-backtrace inspect tool fiberctl fibertrace fixtures examples bench tests; do
	[ ! -d $folder ] || folders="$folders $folder"
done
# shellcheck disable=SC2086 # lists of words without blanks, here and below
all=${FILES:-$(find $folders -name '*.[ch]' | sort)}

clang-format --dry-run -Werror $all
result $? clang-format

# A port is looked at with its own frame.h, and only where its instructions are those of this machine.
can_compile() {
	case $1 in
	*.h) return 1 ;;
	libfiber/arch/generic/* | "libfiber/arch/$(uname -m)/"*) return 0 ;;
	libfiber/arch/*) return 1 ;;
	fixtures/sanitizers/*) return 1 ;; # has the mistakes that the sanitizers are to find
	bench/peers/*) return 1 ;; # needs what `make deps-bench` installs
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
