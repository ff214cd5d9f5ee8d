/* SPDX-License-Identifier: MIT */
/*
 * watched.c - what it costs to be looked at, and that somebody could
 *
 * The first work is yielding as in fibers.c, with the control socket and the watchdog that a program has unless it says
 * otherwise. The second one is a carrier that has a CPU for itself and looks at the clock in every turn, among
 * many fibers that wait: how long it was away from its work, by anybody's doing. bench/observer.py starts it and
 * looks at it meanwhile.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/libfiber/bench.h"

void bench_watchable_yield(long count, long fibers)
{
	const char *control = getenv("FIBER_CONTROL");

	bench_watchable = !control || strcmp(control, "off") != 0;
	bench_yield(count, fibers);
}

struct observed {
	long waiting, seconds;
};

static void *waits(void *arg)
{
	fiber_park(FIBER_FOREVER);
	return arg;
}

/* A line every second: turns, the longest gap between two of them, and how many were longer than 100 us. */
static void *turns(void *arg)
{
	const struct observed *o = arg;

	for (long s = 0; s < o->seconds; s++) {
		double began = work_now(), last = began, now, longest = 0;
		long count = 0, late = 0;

		do {
			fiber_yield();
			now = work_now();
			longest = now - last > longest ? now - last : longest;
			late += now - last > 100e3;
			last = now;
			count++;
		} while (now - began < 1e9);
		printf("turns %ld longest_us %.1f late %ld\n", count, longest / 1e3, late);
		fflush(stdout);
	}
	_exit(0); /* those who wait have nobody to wake them */
}

static void *observed_main(void *arg)
{
	const struct observed *o = arg;

	for (long i = 0; i < o->waiting; i++)
		if (fiber_spawn(waits, NULL, NULL))
			work_die("fiber_spawn");
	return turns(arg);
}

void bench_observed(long waiting, long seconds)
{
	struct observed o = {waiting, seconds};

	bench_watchable = true;
	bench_run(observed_main, &o, 1);
}
