/* SPDX-License-Identifier: MIT */
/*
 * threads.h - works that libfiber and its peers in C share, on fibers or threads
 *
 * The includer first defines:
 *
 *   THREAD, START(fn, arg), JOIN(thread)   a thread or a fiber, its start, the wait for its exit
 *   RUNS_AT_ONCE                           whether it may run before the starting thread waits:
 *                                          then the clock is read before the start, else after it
 *   LOCK(), UNLOCK(), WAIT(), SIGNAL()     one mutex, and one condition for the holder of the mutex
 *
 * It gets functions that do a work once and report it.
 */
#ifndef BENCH_THREADS_H
#define BENCH_THREADS_H

#include <stdbool.h>

#include "bench/work.h"

/* Room for n threads; free() it. */
static inline THREAD *threads_room(long n)
{
	THREAD *room = (THREAD *)calloc((size_t)n, sizeof(THREAD));

	if (!room)
		work_die("calloc");
	return room;
}

/* n threads, each of which yields count / n times: yielder(&times). */
static inline void threads_yield(long count, long n, void *(*yielder)(void *))
{
	long times = count / n;
	THREAD *threads = threads_room(n);
	double cpu = work_cpu();

	for (long i = 0; i < n; i++)
		threads[i] = START(yielder, &times);
	if (!RUNS_AT_ONCE)
		cpu = work_cpu();
	for (long i = 0; i < n; i++)
		JOIN(threads[i]);
	work_report_each(cpu, times * n);
	free(threads);
}

static inline void *threads_nothing(void *arg)
{
	return arg;
}

/*
 * Start n threads that do nothing and join them, count / n times. The clock starts after the first
 * round, which allocates the stacks.
 */
static inline void threads_spawn(long count, long n)
{
	long rounds = count / n;
	THREAD *threads = threads_room(n);
	double cpu = 0;

	for (long r = -1; r < rounds; r++) {
		if (!r)
			cpu = work_cpu();
		for (long i = 0; i < n; i++)
			threads[i] = START(threads_nothing, NULL);
		for (long i = 0; i < n; i++)
			JOIN(threads[i]);
	}
	work_report_each(cpu, rounds * n);
	free(threads);
}

static int threads_turn;

/*
 * Not inlined, so that both threads run the same copy. With two copies libfiber takes 32 ns instead
 * of 24, because returns and indirect jumps are harder to predict.
 */
WORK_NOIPA static void threads_play(int me, long messages)
{
	LOCK();
	while (messages-- > 0) {
		while (threads_turn != me)
			WAIT();
		threads_turn = !me;
		SIGNAL();
	}
	UNLOCK();
}

static inline void *threads_player(void *arg)
{
	threads_play(1, *(long *)arg);
	return NULL;
}

/* Ping-pong over the mutex and the condition, count / 2 messages each way. */
static inline void threads_cond(long count, long arg)
{
	long messages = count / 2;
	double cpu = work_cpu();
	THREAD other = START(threads_player, &messages);

	(void)arg;
	if (!RUNS_AT_ONCE)
		cpu = work_cpu();
	threads_play(0, messages);
	JOIN(other);
	work_report_each(cpu, messages * 2);
}

/* Lock and unlock without contention. */
static inline void threads_mutex(long count, long arg)
{
	double cpu = work_cpu();

	(void)arg;
	for (long i = 0; i < count; i++) {
		LOCK();
		UNLOCK();
	}
	work_report_each(cpu, count);
}

#endif
