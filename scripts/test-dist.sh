#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test-dist.sh [BUILD] - the release tarball has every file, is reproducible, and builds without git
#
# Prints TAP. BUILD, or $FIBER_BUILD, is a finished build, which gets the tarball. The tests of the tarball are skipped in a
# tree that is no git checkout.
. "$(dirname "$0")/tap.sh"

make=${MAKE:-make}
unset MAKEFLAGS MFLAGS MAKELEVEL
version=$(sed -n 's/^VERSION := //p' Makefile)
tarball=$build/libfiber-$version.tar.gz

# one_version FILE SED-SCRIPT: check that what the script prints of the file is the Makefile's version
one_version() {
	found=$(sed -n "$2" "$1" | head -n 1)
	echo "$1: $found, Makefile: $version"
	[ -n "$version" ] && [ "$found" = "$version" ]
}

in_git() {
	git rev-parse --verify -q HEAD >/dev/null 2>&1 || {
		echo "no git checkout"
		return 77
	}
}

same_twice() {
	in_git || return
	"$make" -s dist BUILD="$build" && cp "$tarball" "$tmp/first" || return 1
	(umask 077 && TZ=Asia/Tokyo "$make" -s dist BUILD="$build") && cmp "$tmp/first" "$tarball"
}

every_file() {
	in_git || return
	git ls-tree -r --name-only HEAD | sed "s|^|libfiber-$version/|" | sort >"$tmp/expected"
	tar -tf "$tarball" | grep -v '/$' | sort | diff "$tmp/expected" -
}

# Stands for git: the build must not need it.
no_git() {
	mkdir -p "$tmp/path" && printf '#!/bin/sh\necho "git was called: $*" >&2\nexit 1\n' >"$tmp/path/git" &&
		chmod +x "$tmp/path/git"
}

# The library and the smallest tool are built; make only looks for the files of the rest, to save time.
builds() {
	in_git || return
	no_git && tar -C "$tmp" -xf "$tarball" && cd "$tmp/libfiber-$version" &&
		PATH=$tmp/path:$PATH "$make" -n BUILD=out all tests >"$tmp/commands" 2>"$tmp/errors" &&
		PATH=$tmp/path:$PATH "$make" -s BUILD=out OPT=-O0 out/lib/libfiber.so out/bin/fiberize 2>>"$tmp/errors" &&
		! grep 'git was called' "$tmp/errors" && [ "$(out/bin/fiberize --version)" = "fiberize $version" ]
}

# A tree without git says what is missing.
refuses() {
	in_git || return
	! PATH=$tmp/path:$PATH "$make" -s -C "$tmp/libfiber-$version" BUILD=out dist >"$tmp/made" 2>&1 &&
		cat "$tmp/made" && grep -q 'this tree is no git checkout' "$tmp/made"
}

prove "NEWS begins with the version of the Makefile" one_version NEWS 's/^libfiber \([0-9.]*\) .*/\1/p'
prove "and so does debian/changelog" one_version debian/changelog 's/^libfiber (\([0-9.]*\)).*/\1/p'
prove "and the RPM spec has it" one_version packaging/libfiber.spec 's/^Version: *//p'
prove "make dist makes the same bytes twice" same_twice
prove "the tarball has every file of the commit and no other" every_file
prove "the tarball builds without git" eval '(builds)'
prove "make dist without git says what is missing" refuses

echo "1..$count"
exit $failed
