#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test-abi.sh [BUILD] - the shared libraries have the binary interface of the newest release, or have only added to it
#
# Prints TAP. Builds the shared libraries of the newest tag vX.Y.Z that this commit contains, apart, and compares each with that
# of BUILD, or $FIBER_BUILD, a finished build. Any change but an addition is an offence, unless packaging/abi/reviewed.abignore has
# it. Without a tag, a git checkout or abidiff (package abigail-tools) the comparison is skipped, with the reason. Two small
# libraries show that abidiff finds what is lost.
. "$(dirname "$0")/tap.sh"

make=${MAKE:-make}
unset MAKEFLAGS MFLAGS MAKELEVEL

# compare OLD NEW
compare() {
	abidiff --no-added-syms --suppressions packaging/abi/reviewed.abignore "$1" "$2"
}

# A library without one of the functions, so that the comparison is known to find that.
finds_a_loss() {
	needs_abidiff || return
	printf 'int fiber_one(void) { return 1; }\nint fiber_two(void) { return 2; }\n' >"$tmp/two.c"
	printf 'int fiber_one(void) { return 1; }\n' >"$tmp/one.c"
	for one in one two; do
		"$cc" -g -shared -fPIC -Wl,-soname,libown.so.0 -o "$tmp/$one.so" "$tmp/$one.c" || return 1
	done
	compare "$tmp/one.so" "$tmp/two.so" && ! compare "$tmp/two.so" "$tmp/one.so"
}

needs_abidiff() {
	command -v abidiff >/dev/null 2>&1 || {
		echo "missing: abidiff (make deps-packages)"
		return 77
	}
}

compare_all() {
	needs_abidiff || return
	tag=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null) || {
		echo "no release to compare with: no git checkout, or no tag v* yet"
		return 77
	}
	mkdir "$tmp/old" && git archive "$tag" | tar -C "$tmp/old" -xf - || return 1
	for library in libfiber libfiber-posix libfiber-tls libfiber-backtrace; do
		"$make" -s -C "$tmp/old" BUILD=build OPT=-O0 "build/lib/$library.so.0" &&
			compare "$tmp/old/build/lib/$library.so.0" "$build/lib/$library.so.0" || return 1
	done
}

prove "abidiff finds a lost function and accepts a new one" finds_a_loss
prove "the shared libraries have what those of the newest release had" compare_all

echo "1..$count"
exit $failed
