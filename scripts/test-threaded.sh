#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test-threaded.sh [BUILD] - a program for threads prints the same when its threads are fibers
#
# Each case of fixtures/threaded runs once as the system runs it, and then in fibers, on 1, 2 and 4 carriers.
. "$(dirname "$0")/tap.sh"

"$cc" -std=gnu11 -O2 -Wall -Wextra -o "$tmp/threaded" fixtures/threaded/threaded.c -pthread || exit 1

# in_fibers CARRIERS PROGRAM...
in_fibers() {
	carriers=$1
	shift
	FIBERIZE="$carriers 262144 -1 16" LD_PRELOAD="$build/lib/libfiber-posix.so.0 $build/lib/libfiber.so.0" timeout 20 "$@"
}

# compare CASE CARRIERS
compare() {
	timeout 20 "$tmp/threaded" "$1" >"$tmp/threads"
	echo "status $?" >>"$tmp/threads"
	in_fibers "$2" "$tmp/threaded" "$1" >"$tmp/fibers"
	echo "status $?" >>"$tmp/fibers"
	diff "$tmp/threads" "$tmp/fibers"
}

for case in $("$tmp/threaded"); do
	for carriers in 1 2 4; do
		prove "$case is the same in fibers, $carriers carriers" compare "$case" "$carriers"
	done
done

echo "1..$count"
exit "$failed"
