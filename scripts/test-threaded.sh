#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test-threaded.sh [BUILD] - programs for threads print the same when their threads are fibers
#
# Each case of the programs of fixtures/threaded runs once as the system runs it, and then in fibers, on 1, 2 and 4 carriers.
. "$(dirname "$0")/tap.sh"

# The library of asks.c.
"$cc" -std=gnu11 -O2 -Wall -Wextra -fPIC -shared -o "$tmp/libearly.so" fixtures/threaded/early.c || exit 1

programs='threaded cancelled children mistakes loaded asks greed handlers interrupted futexes'
for program in $programs; do
	"$cc" -std=gnu11 -O2 -Wall -Wextra -o "$tmp/$program" "fixtures/threaded/$program.c" -pthread -Wl,--as-needed \
		-L"$tmp" -learly -Wl,-rpath,"$tmp" || exit 1
done

limit=$((20 * ${FIBER_TEST_PATIENCE:-1})) # s

# in_fibers CARRIERS PROGRAM... Threads that have waited for 1 ms give back what they do not use of their stacks.
in_fibers() {
	carriers=$1
	shift
	FIBERIZE="$carriers 262144 -1 16 1000000" LD_PRELOAD="$build/lib/libfiber-posix.so.0 $build/lib/libfiber.so.0" timeout "$limit" "$@"
}

# compare PROGRAM CASE CARRIERS
compare() {
	timeout "$limit" "$tmp/$1" "$2" >"$tmp/threads"
	echo "status $?" >>"$tmp/threads"
	in_fibers "$3" "$tmp/$1" "$2" >"$tmp/fibers"
	echo "status $?" >>"$tmp/fibers"
	diff "$tmp/threads" "$tmp/fibers"
}

# The libraries of loaded.c. Copies have other inodes: the loader takes each for another library.
"$cc" -std=gnu11 -O2 -Wall -Wextra -fPIC -shared -o "$tmp/module.so" fixtures/threaded/module.c || exit 1
"$cc" -std=gnu11 -O2 -Wall -Wextra -fPIC -shared '-DMODEL="initial-exec"' -o "$tmp/module-static.so" fixtures/threaded/module.c || exit 1
for i in $(seq 20); do
	cp "$tmp/module.so" "$tmp/module-$i.so" || exit 1
done

# What differs (fiberize(1)): a fiber that is older than a library with static thread-locals has 0 in them.
initial_values_come_late() {
	timeout "$limit" "$tmp/loaded" older-than-static >"$tmp/threads" || return 1
	in_fibers 2 "$tmp/loaded" older-than-static >"$tmp/fibers" || return 1
	sed -e 's/^main: 105 106/main: 100 101/' -e 's/^destroy 107 107/destroy 102 102/' \
		-e '/^early/{s/5 6/0 1/;n;s/7 7/2 2/}' "$tmp/threads" | diff - "$tmp/fibers"
}

# With RTLD_DEEPBIND the calls of a library are the C library's: they block the carrier, and the watchdog names the library.
deep_calls_are_named() {
	printf 1 | timeout "$limit" "$tmp/loaded" deep >"$tmp/threads" || return 1
	rm -f "$tmp/input"
	mkfifo "$tmp/input" || return 1
	FIBERIZE="1 262144 20000000" LD_PRELOAD="$build/lib/libfiber-posix.so.0 $build/lib/libfiber.so.0" timeout 60 \
		"$tmp/loaded" deep <"$tmp/input" >"$tmp/fibers" 2>"$tmp/line" &
	deep=$!
	exec 3>"$tmp/input"
	tries=0
	until grep -q . "$tmp/line" || [ "$tries" -ge 200 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	printf 1 >&3
	exec 3>&-
	wait "$deep" || return 1
	cat "$tmp/line"
	grep -q 'holds carrier 0 for .* in a system call, probably from module.so+0x' "$tmp/line" && diff "$tmp/threads" "$tmp/fibers"
}

for program in $programs; do
	for case in $("$tmp/$program"); do
		for carriers in 1 2 4; do
			prove "$program: $case is the same in fibers, $carriers carriers" compare "$program" "$case" "$carriers"
		done
	done
done
prove "a library with static thread-locals has no initial values in older fibers" initial_values_come_late
prove "a library loaded with RTLD_DEEPBIND blocks the carrier and is named" deep_calls_are_named

echo "1..$count"
exit "$failed"
