#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test-meson.sh [BUILD] - programs find the installed libfiber with Meson, or build its release with the wrap
#
# Prints TAP. BUILD, or $FIBER_BUILD, is a finished build; nothing outside a temporary folder is written, except the tarball of
# `make dist`.
. "$(dirname "$0")/tap.sh"

make=${MAKE:-make}
unset MAKEFLAGS MFLAGS MAKELEVEL
version=$(sed -n 's/^VERSION := //p' Makefile)
prefix=$tmp/first
PKG_CONFIG_PATH=$prefix/lib/pkgconfig
export PKG_CONFIG_PATH

mkdir -p "$tmp/meson/subprojects/packagefiles" && cat >"$tmp/meson/meson.build" <<'END'
project('own', 'c', default_options: ['c_std=gnu11'])
executable('hello', 'hello.c', dependencies: dependency('libfiber', version: '>= 0.2'))
END
cp examples/03_pipeline.c "$tmp/meson/hello.c"

# meson_runs FOLDER OPTION...: configure, build and run the program
meson_runs() {
	needs meson || return
	out=$tmp/meson/$1
	shift
	CC=$cc meson setup "$@" "$out" "$tmp/meson" && OPT=-O0 meson compile -C "$out" &&
		[ "$("$out/hello")" = "the squares of 1 to 1000 add up to 333833500" ]
}

meson_finds() {
	meson_runs found --wrap-mode=nodownload
}

# The tarball's version is the wrap's, so a forgotten one fails here.
meson_builds() {
	git rev-parse --verify -q HEAD >/dev/null 2>&1 || {
		echo "no git checkout"
		return 77
	}
	cp packaging/meson/libfiber.wrap "$tmp/meson/subprojects" && cp -r packaging/meson/packagefiles "$tmp/meson/subprojects" &&
		"$make" -s dist BUILD="$build" && cp "$build/libfiber-$version.tar.gz" "$tmp/meson/subprojects/packagefiles" &&
		meson_runs built --wrap-mode=forcefallback && ! readelf -d "$tmp/meson/built/hello" | grep 'NEEDED.*libfiber'
}

prove "make install succeeds" "$make" -s install-lib BUILD="$build" PREFIX="$prefix" DESTDIR=
prove "Meson's dependency() finds the installed libfiber" meson_finds
prove "and with the wrap builds the release as a subproject" meson_builds

echo "1..$count"
exit $failed
