#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test-packages.sh [PART...] - build the Debian packages and the RPM of the commit HEAD, check them, and use them in a new root
#
#   build       dpkg-buildpackage, with the quick tests; the other parts need it
#   lint        lintian and rpmlint have nothing to say
#   again       a second build, elsewhere, later and with another umask, language and time zone, gives the same bytes
#   root        in a new root with Debian alone: install, test, upgrade from a lower version, purge; nothing is left
#   rpm         rpmbuild accepts the spec, and its packages together have each installed file
#
# Prints TAP. Without an argument all parts run. Needs root and the packages of `make deps-packages`; the new root is filled from
# the package sources of this machine. DEBS=folder: take the packages there instead of building them.
set -u
LC_ALL=C
export LC_ALL
unset MAKEFLAGS MFLAGS MAKELEVEL
cd "$(dirname "$0")/.." || exit 1
version=$(sed -n 's/^VERSION := //p' Makefile)
lower=$version~0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM
chmod 755 "$tmp"
debs=${DEBS:-$tmp/first}
# A blank is not possible: make install refuses a DESTDIR that has one.
second=$tmp/second/with.a.longer.name
count=0
failed=0

# prove NAME COMMAND...: one line of TAP; the output of a failed command goes to stderr
prove() {
	name=$1
	shift
	count=$((count + 1))
	if "$@" >"$tmp/said" 2>&1; then
		echo "ok $count - $name"
	else
		echo "not ok $count - $name"
		tail -n 60 "$tmp/said" | sed 's/^/# /' >&2
		failed=1
	fi
}

# source_in FOLDER: the files of the commit
source_in() {
	mkdir -p "$1/libfiber-$version" && git archive HEAD | tar -C "$1/libfiber-$version" -xf -
}

build() {
	source_in "$tmp/first" && cd "$tmp/first/libfiber-$version" && dpkg-buildpackage -us -uc -F -j"$(nproc)"
}

lint() {
	lintian --allow-root --fail-on error,warning "$debs"/*.changes
}

# The files are changed after the date of the changelog, to which the packages lower all times. They are not changed in the
# future: make would compile everything again when it installs.
build_again() {
	DEB_BUILD_OPTIONS="nocheck ${DEB_BUILD_OPTIONS-}"
	export DEB_BUILD_OPTIONS
	source_in "$second" && cd "$second/libfiber-$version" &&
		find . -exec touch -d "@$(($(dpkg-parsechangelog -S Timestamp) + 3600))" {} + && umask 027 &&
		LC_ALL=C.UTF-8 LANG=de_DE.UTF-8 TZ=Pacific/Kiritimati HOME=/nonexistent dpkg-buildpackage -us -uc -b -j"$(nproc)"
}

same_bytes() {
	for deb in "$debs"/*.deb; do
		cmp "$deb" "$second/${deb##*/}" || return 1
	done
}

# in_root COMMAND...: run it in the new root
in_root() {
	chroot "$tmp/system" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/ DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
}

new_root() {
	mmdebstrap --mode=root --variant=apt --include=gcc,libc6-dev,pkg-config \
		--include="$(depends_on)" bookworm "$tmp/system" /etc/apt/sources.list.d/debian.sources &&
		mkdir "$tmp/system/new" "$tmp/system/old" && cp "$debs"/*.deb "$tmp/system/new" && mount -t proc proc "$tmp/system/proc" &&
		in_root find / -xdev -not -path '/new*' -not -path '/old*' -not -path '/var/*' -not -path '/proc*' | sort >"$tmp/before"
}

# The packages of Debian that ours need, so that the new root needs no network later.
depends_on() {
	for deb in "$debs"/*.deb; do
		dpkg-deb -f "$deb" Depends
	done | tr ',' '\n' | sed 's/(.*//; s/|.*//; s/ //g; s/:any//; /^$/d' | grep -v '^libfiber' | sort -u | paste -sd,
}

# Packages of a lower version: the same files. They depend on each other in this version, also where the symbols files ask for
# the version of the release or a higher one.
lower_packages() {
	for deb in "$debs"/*.deb; do
		case $deb in *-dbgsym_*) continue ;; esac
		rm -rf "$tmp/lower" && dpkg-deb -R "$deb" "$tmp/lower" &&
			sed -i "s/^Version: .*/Version: $lower/; s/\(libfiber[^ ]* (>*= \)$version)/\1$lower)/g" "$tmp/lower/DEBIAN/control" &&
			dpkg-deb --root-owner-group -b "$tmp/lower" "$tmp/system/old" || return 1
	done
}

installs() {
	in_root sh -c "apt-get install -q -y --no-install-recommends $1/libfiber*.deb" &&
		[ "$(in_root dpkg-query -W -f '${Version}\n' 'libfiber*' | sort -u)" = "$2" ]
}

# The test that autopkgtest runs, which needs nothing but the packages.
tests_pass() {
	install -m 755 debian/tests/compile-and-list "$tmp/system/tmp/compile-and-list" && in_root /tmp/compile-and-list &&
		rm "$tmp/system/tmp/compile-and-list" &&
		[ "$(in_root fiberctl --version)" = "fiberctl $version" ] && [ "$(in_root fiberize --version)" = "fiberize $version" ] &&
		in_root sh -c 'cc -o /tmp/p /usr/share/doc/libfiber-doc/examples/03_pipeline.c $(pkg-config --cflags --libs libfiber)' &&
		in_root fibertest --schedules 20 /tmp/p && rm "$tmp/system/tmp/p"
}

purges() {
	in_root sh -c 'dpkg --purge $(dpkg-query -W -f "\${Package}\n" "libfiber*")' &&
		in_root find / -xdev -not -path '/new*' -not -path '/old*' -not -path '/var/*' -not -path '/proc*' | sort | diff "$tmp/before" - &&
		! in_root dpkg-query -W 'libfiber*'
}

leave_root() {
	umount "$tmp/system/proc"
}

rpm_builds() {
	source_in "$tmp/rpm" && make -s -j"$(nproc)" -C "$tmp/rpm/libfiber-$version" PREFIX=/usr LIBDIR=/usr/lib64 lib test-library tools variants &&
		cd "$tmp/rpm/libfiber-$version" && rpmbuild -bb --build-in-place --nodeps --nocheck --define "_topdir $tmp/rpm" \
		--define 'set_build_flags true' --define '_libdir /usr/lib64' --define 'debug_package %{nil}' packaging/libfiber.spec
}

lint_rpm() {
	rpmlint -c packaging/rpmlint.toml packaging/libfiber.spec >"$tmp/rpmlint"
	cat "$tmp/rpmlint"
	grep -q ' 0 errors, 0 warnings' "$tmp/rpmlint"
}

# wanted PART: whether it was asked for
wanted() {
	[ -z "$parts" ] || echo " $parts " | grep -qF " $1 "
}

parts=$*
[ "$(id -u)" -eq 0 ] || {
	echo "1..0 # SKIP needs root"
	exit 0
}
for tool in debhelper:dh lintian:lintian mmdebstrap:mmdebstrap rpm:rpmbuild rpmlint:rpmlint; do
	command -v "${tool#*:}" >/dev/null 2>&1 || {
		echo "1..0 # SKIP missing: ${tool%:*} (make deps-packages)"
		exit 0
	}
done

[ -n "${DEBS-}" ] || prove "the Debian packages build, and the quick tests pass" eval '(build)'
if wanted lint; then
	prove "lintian has nothing to say" lint
	prove "rpmlint has nothing to say" lint_rpm
fi
if wanted again; then
	prove "they build elsewhere, later and in another environment" eval '(build_again)'
	prove "to the same bytes" same_bytes
fi
if wanted root; then
	prove "a new root has what they depend on" new_root
	trap 'leave_root; rm -rf "$tmp"' EXIT
	prove "there are packages of a lower version" lower_packages
	prove "the lower version installs" installs /old "$lower"
	prove "it is upgraded" installs /new "$version"
	prove "an example compiles, and the tools see its fibers" tests_pass
	prove "purging leaves nothing" purges
fi
if wanted rpm; then
	prove "the RPM packages build, and have each file" eval '(rpm_builds)'
fi

echo "1..$count"
exit $failed
