/* SPDX-License-Identifier: MIT */
/* bench.h - the works of libfiber's benchmark program, and how they start a runtime */
#ifndef BENCH_LIBFIBER_BENCH_H
#define BENCH_LIBFIBER_BENCH_H

#include <stdlib.h>

#include <fiber.h>

#include "bench/work.h"

/* Each does one run of count operations; for arg see bench/rows.py. */
void bench_switch(long count, long arg);
void bench_codes(long count, long arg);
void bench_yield(long count, long fibers);
void bench_spawn(long count, long live);
void bench_cond(long count, long arg);
void bench_channel(long count, long arg);
void bench_mutex(long count, long arg);
void bench_mutex_used(long count, long carriers);
void bench_tree(long leaves, long carriers);
/* What a fiber takes in each state: see memory.c. */
void bench_memory_new(long fibers, long arg);
void bench_memory(long fibers, long arg);
void bench_memory_ended(long fibers, long arg);
void bench_memory_joined(long fibers, long arg);
void bench_naps(long fibers, long naps);
void bench_beside(long sleeps, long yielders);

/* One carrier: see calls.c. */
void bench_sem(long count, long arg);
void bench_select(long count, long n);
void bench_cancel(long count, long arg);
void bench_timer(long count, long arg);
void bench_local(long count, long arg);
void bench_echo_unix(long count, long arg);
void bench_echo_pipe(long count, long arg);
void bench_file(long count, long arg);

/* Work on one object that fibers on several carriers share: see shared/. */
void bench_shared_mutex(long count, long carriers);
void bench_shared_mutex_yield(long count, long carriers);
void bench_shared_rwlock(long count, long carriers);
void bench_shared_queue_0(long count, long carriers);
void bench_shared_queue_16(long count, long carriers);
void bench_shared_queue_1024(long count, long carriers);
void bench_shared_pipe_0(long count, long carriers);
void bench_shared_pipe_16(long count, long carriers);
void bench_shared_broadcast(long count, long carriers);
void bench_shared_sem(long count, long carriers);
void bench_shared_waitgroup(long rounds, long carriers);
void bench_shared_group(long count, long carriers);
void bench_shared_select(long count, long carriers);
void bench_shared_spawn(long count, long carriers);
void bench_shared_sleepers(long fibers, long carriers);
void bench_shared_table_mutex(long requests, long carriers);
void bench_shared_table_rwlock(long requests, long carriers);

/* Check that everything the tools need is compiled in. If not, name it and exit with 2. */
void bench_verify(long count, long arg);

/* Yields, and being observed: see watched.c. */
void bench_watchable_yield(long count, long fibers);
void bench_observed(long waiting, long seconds);

/* The cost of an event of the flight recorder: see recorded.c. */
void bench_recorded(long count, long fibers);

/*
 * Run fn(arg) as the first fiber of a runtime with that many carriers. The control socket and the
 * watchdog are off unless bench_watchable is set.
 */
extern bool bench_watchable;

/* Whether fibers and contexts share the FPU control words: BENCH_SHARED_FPU in the environment. */
static inline bool bench_shares_fpu(void)
{
	return getenv("BENCH_SHARED_FPU") != NULL;
}
void bench_run(fiber_fn *fn, void *arg, unsigned carriers);

#endif
