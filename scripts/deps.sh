#!/bin/sh
# SPDX-License-Identifier: MIT
#
# deps.sh PACKAGE... - install the missing ones of these Debian packages
#
# On other distributions: if programs or libraries are missing, name them and the packages that contain them, and fail.
set -u

# lacking: print the programs and libraries that this system does not have
lacking() {
	for program in cc c++ pkg-config gdb gcore lldb debuginfod chromium zstd xz gzip strip setarch bash clang-format clang-tidy cppcheck mandoc python3 zsh fish dot valgrind openssl curl nginx prometheus promtool cmake meson cmark-gfm; do
		command -v $program >/dev/null 2>&1 || echo $program
	done
	for library in libunwind-generic libdw libelf jansson ncursesw libzstd liblzma zlib cmocka liburing libssl libmicrohttpd; do
		pkg-config --exists $library 2>/dev/null || echo $library
	done
	python3 -c 'import jsonschema' 2>/dev/null || echo python3-jsonschema
	for library in http_parser iberty; do
		echo 'int main(void) { return 0; }' |
			cc -x c -o /dev/null - -l$library 2>/dev/null || echo lib$library
	done
	for header in sys/sdt.h valgrind/memcheck.h boost/context/detail/fcontext.hpp; do
		echo "#include <$header>" | c++ -x c++ -fsyntax-only - 2>/dev/null || echo $header
	done
}

if ! command -v dpkg-query >/dev/null 2>&1; then
	missing=$(lacking | tr '\n' ' ')
	[ -n "$missing" ] || exit 0
	echo "make deps: missing: $missing" >&2
	cat >&2 <<'EOT'
This system is not Debian or one of its relatives; install these and go on. The drawings of 'fiberctl serve' need d3, which Debian has
as node-d3 (/usr/share/nodejs/d3/dist/d3.min.js); without it the rest is built.
  Fedora, RHEL:  gcc gcc-c++ make pkgconf libunwind-devel openssl openssl-devel curl nginx elfutils-devel elfutils-libelf-devel jansson-devel
                 libmicrohttpd-devel ncurses-devel binutils-devel libzstd-devel xz-devel zlib-devel libcmocka-devel http-parser-devel
                 liburing-devel boost-devel systemtap-sdt-devel gdb lldb elfutils elfutils-debuginfod binutils util-linux
                 bash zstd xz clang compiler-rt clang-tools-extra cppcheck mandoc chromium python3 python3-jsonschema prometheus
                 zsh fish graphviz valgrind-devel; for SAN and libfiber-asan, -tsan: libasan libubsan libtsan
  Arch:          gcc make pkgconf libunwind openssl curl nginx elfutils debuginfod jansson ncurses binutils zstd xz zlib cmocka http-parser
                 libmicrohttpd liburing boost gdb lldb util-linux bash clang compiler-rt cppcheck mandoc chromium python
                 python-jsonschema prometheus zsh fish graphviz valgrind
  Alpine:        gcc g++ musl-dev make pkgconf libunwind-dev openssl openssl-dev curl nginx elfutils-dev jansson-dev ncurses-dev binutils-dev zstd-dev
                 xz-dev zlib-dev cmocka-dev http-parser-dev libmicrohttpd-dev liburing-dev boost-dev gdb lldb elfutils binutils util-linux
                 bash coreutils zstd xz clang compiler-rt clang-extra-tools cppcheck mandoc chromium python3
                 py3-jsonschema zsh fish graphviz valgrind-dev
  openSUSE:      gcc gcc-c++ make pkgconf libunwind-devel openssl libopenssl-devel curl nginx libdw-devel libelf-devel libjansson-devel ncurses-devel
                 binutils-devel libzstd-devel xz-devel zlib-devel libcmocka-devel http-parser-devel liburing-devel
                 libmicrohttpd-devel libboost_context-devel systemtap-sdt-devel gdb lldb elfutils elfutils-debuginfod binutils util-linux
                 bash zstd xz clang clang-tools cppcheck mandoc chromium python3 python3-jsonschema zsh fish graphviz
                 valgrind-devel; for SAN and libfiber-asan, -tsan: libasan8 libubsan1 libtsan2
EOT
	exit 1
fi

missing=
for package in "$@"; do
	case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
	*"ok installed") ;;
	*) missing="$missing $package" ;;
	esac
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
	command -v sudo >/dev/null 2>&1 || {
		echo "make deps: not root and no sudo; as root: apt-get install$missing" >&2
		exit 1
	}
	as_root=sudo
fi
echo "make deps: installing$missing"
# shellcheck disable=SC2086 # the list must be split into words
$as_root apt-get update -q &&
	$as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get install -q -y --no-install-recommends $missing
