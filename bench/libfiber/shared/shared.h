/* SPDX-License-Identifier: MIT */
/*
 * shared.h - what the works with one object for the fibers of several carriers have in common
 *
 * Several threads work, so the time is wall-clock time. The CPU time shows what a carrier costs that
 * only waits or spins. Both are divided by the operations of all fibers together.
 */
#ifndef BENCH_LIBFIBER_SHARED_H
#define BENCH_LIBFIBER_SHARED_H

#include "bench/libfiber/bench.h"
#include "bench/shared.h"

#define MANY 100
#define ENDS 10

/* Operations of each fiber of a race. Set before the first spawn, then read-only. */
extern long bench_turns;

struct bench_costs {
	double now, cpu, steals;
};

/* From a fiber. */
struct bench_costs bench_costs_begin(void);

/* Report the wall-clock time, the CPU time and the steals since then for each of n operations. */
void bench_costs_report(const struct bench_costs *since, long n);

/* Report the steals since then for each of n operations. */
void bench_steals_report(const struct bench_costs *since, long n);

/* Spawn a fiber; a failure ends the program. */
struct fiber *bench_start(fiber_fn *fn, void *arg);
void bench_finish(struct fiber *fiber);

/* Run fn in n fibers, at most MANY, started together, and report what an operation costs. Each gets
 * its number as its argument. */
void bench_race(fiber_fn *fn, long n);

#endif
