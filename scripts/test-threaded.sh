#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test-threaded.sh [BUILD] - programs for threads print the same when their threads are fibers
#
# Each case of the programs of fixtures/threaded runs once as the system runs it, and then in fibers, on 1, 2 and 4 carriers.
. "$(dirname "$0")/tap.sh"

programs='threaded cancelled children mistakes'
for program in $programs; do
	"$cc" -std=gnu11 -O2 -Wall -Wextra -o "$tmp/$program" "fixtures/threaded/$program.c" -pthread || exit 1
done

# in_fibers CARRIERS PROGRAM...
in_fibers() {
	carriers=$1
	shift
	FIBERIZE="$carriers 262144 -1 16" LD_PRELOAD="$build/lib/libfiber-posix.so.0 $build/lib/libfiber.so.0" timeout 20 "$@"
}

# compare PROGRAM CASE CARRIERS
compare() {
	timeout 20 "$tmp/$1" "$2" >"$tmp/threads"
	echo "status $?" >>"$tmp/threads"
	in_fibers "$3" "$tmp/$1" "$2" >"$tmp/fibers"
	echo "status $?" >>"$tmp/fibers"
	diff "$tmp/threads" "$tmp/fibers"
}

for program in $programs; do
	for case in $("$tmp/$program"); do
		for carriers in 1 2 4; do
			prove "$program: $case is the same in fibers, $carriers carriers" compare "$program" "$case" "$carriers"
		done
	done
done

echo "1..$count"
exit "$failed"
