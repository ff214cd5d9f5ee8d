#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# test-crowd-walk.sh - every stack of a program is walked to its end
#
# $FIBER_BUILD/bin/crowd is compiled in the way that is tested. $FIBERTRACE is the tool. Each fiber that has not exited has
# a frame of member_main(), its function, and no walk is truncated.
set -u

folder=$(mktemp -d) || exit 1
crowd=
trap '[ -z "$crowd" ] || kill "$crowd" 2>/dev/null; rm -rf "$folder"' EXIT
echo 1..1
"${FIBER_BUILD:?the build folder}/bin/crowd" 66 >"$folder/fibers" &
crowd=$!
until grep -q '^ready ' "$folder/fibers"; do
	kill -0 "$crowd" 2>/dev/null || break
	sleep 0.05
done
"${FIBERTRACE:?the tool}" --each "$crowd" >"$folder/walks" 2>&1
status=$?
fibers=$(grep -c '^fiber ' "$folder/walks")
exited=$(grep -c '^fiber .*\[dead' "$folder/walks")
whole=$(grep -c 'member_main' "$folder/walks")
if [ "$status" -eq 0 ] && [ "$fibers" -eq 66 ] && [ "$whole" -eq $((fibers - exited)) ]; then
	echo "ok 1 - crowd_stacks_are_walked_to_their_ends"
else
	echo "# exit status $status, $fibers fibers, $exited exited, $whole walked to their function"
	sed 's/^/# /' "$folder/walks" | tail -n 40
	echo "not ok 1 - crowd_stacks_are_walked_to_their_ends"
	exit 1
fi
