/* SPDX-License-Identifier: MIT */
/* bench.h - the works that libfiber's program of the benchmark knows, and how they start a runtime. */
#ifndef BENCH_LIBFIBER_BENCH_H
#define BENCH_LIBFIBER_BENCH_H

#include <fiber.h>

#include "bench/work.h"

/* Each: one run of count operations; arg as bench/rows.py says. */
void bench_switch(long count, long arg);
void bench_codes(long count, long arg);
void bench_yield(long count, long fibers);
void bench_spawn(long count, long live);
void bench_cond(long count, long arg);
void bench_channel(long count, long arg);
void bench_mutex(long count, long arg);
void bench_tree(long leaves, long carriers);
void bench_memory(long fibers, long arg);
void bench_naps(long fibers, long naps);
void bench_beside(long sleeps, long yielders);

/* Everything that the tools live on is compiled in: says what is missing and exits with 2. */
void bench_verify(long count, long arg);

/* Yielding, and being looked at: see watched.c. */
void bench_watchable_yield(long count, long fibers);
void bench_observed(long waiting, long seconds);

/* What an event of the flight recorder costs: see recorded.c. */
void bench_recorded(long count, long fibers);

/* fn(arg) as the first fiber of a runtime with that many carriers; without a control socket and a watchdog, unless
 * bench_watchable is set. */
extern bool bench_watchable;
void bench_run(fiber_fn *fn, void *arg, unsigned carriers);

#endif
