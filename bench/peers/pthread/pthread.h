/* SPDX-License-Identifier: MIT */
/* pthread.h - what the works on system threads have in common */
#ifndef BENCH_PEERS_PTHREAD_H
#define BENCH_PEERS_PTHREAD_H

#include <pthread.h>

#include "bench/shared.h"

#define MANY 100
#define ENDS 10

/* Let the caller, and the threads that it starts, use n CPUs, or all if the process has fewer. */
void threads_on(long n);

/* Start a thread with a stack of 64 KiB. A failure ends the program. */
pthread_t threads_start(void *(*fn)(void *), void *arg);

/* Operations of each thread of a race. Set before the first start, then read-only. */
extern long threads_turns;

struct threads_costs {
	double now, cpu;
};

struct threads_costs threads_costs_begin(void);

/* Report the wall-clock time and the CPU time since then for each of n operations. */
void threads_costs_report(const struct threads_costs *since, long n);

/*
 * Run fn in n threads, at most MANY, on that many CPUs, and report what an operation costs. Each gets
 * its number as its argument. The clock starts when all threads have started.
 */
void threads_race(void *(*fn)(void *), long n, long cpus);

/* The works of bench/libfiber/shared. */
void threads_shared_mutex(long count, long cpus);
void threads_shared_mutex_yield(long count, long cpus);
void threads_shared_rwlock(long count, long cpus);
void threads_shared_sem(long count, long cpus);
void threads_shared_queue_0(long count, long cpus);
void threads_shared_queue_16(long count, long cpus);
void threads_shared_queue_1024(long count, long cpus);
void threads_shared_pipe_0(long count, long cpus);
void threads_shared_pipe_16(long count, long cpus);
void threads_shared_select(long count, long cpus);
void threads_shared_broadcast(long rounds, long cpus);
void threads_shared_waitgroup(long rounds, long cpus);
void threads_shared_group(long count, long cpus);
void threads_shared_spawn(long count, long cpus);
void threads_shared_table_mutex(long requests, long cpus);
void threads_shared_table_rwlock(long requests, long cpus);

#endif
