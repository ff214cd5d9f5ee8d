#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tap.sh - the first part of a script that uses a finished build as a stranger would, and prints TAP
#
# A script starts with . "$(dirname "$0")/tap.sh" and ends with echo "1..$count" and exit "$failed". Its argument is the build;
# the default is $FIBER_BUILD. With a sanitizer the script ends here, as skipped.
# Sets $build (an absolute path), $cc, and $tmp, a folder that is removed at the end. The working folder is the root of the tree.
set -u
LC_ALL=C
export LC_ALL
# A script that installs says where. A build for a package says another place in the environment.
unset PREFIX LIBDIR DESTDIR

build=${1:-${FIBER_BUILD:?the build folder}}
if [ -n "${FIBER_SAN-}" ]; then
	echo "1..0 # SKIP strangers do not link sanitizers"
	exit 0
fi
cd "$(dirname "$0")/.." || exit 1
build=$(cd "$build" && pwd) || exit 1
cc=${CC:-cc}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
count=0
failed=0

# prints FILE COMMAND...: whether the command ends well and prints what is in the file
prints() {
	expected=$1
	shift
	timeout "$((60 * ${FIBER_TEST_PATIENCE:-1}))" "$@" >"$tmp/out" || return 1
	diff "$expected" "$tmp/out"
}

# prove NAME COMMAND...: print one line of TAP; the output of a failed command goes to stderr. Status 77: skipped
prove() {
	name=$1
	shift
	count=$((count + 1))
	"$@" >"$tmp/said" 2>&1
	case $? in
	0) echo "ok $count - $name" ;;
	77) echo "ok $count # SKIP $name: $(tail -n 1 "$tmp/said")" ;;
	*)
		echo "not ok $count - $name"
		sed 's/^/# /' "$tmp/said" >&2
		failed=1
		;;
	esac
}

# needs COMMAND: skip the test if it is missing
needs() {
	command -v "$1" >/dev/null 2>&1 || {
		echo "missing: $1 (make deps)"
		return 77
	}
}
