/* SPDX-License-Identifier: MIT */
/*
 * main.c - system threads: all on one CPU, as fibers of one carrier are, or on several: see pthread.h
 *
 * Yield is sched_yield(2). CPU time includes the kernel's part, which is nearly all of it.
 */
#include <sched.h>

#include "bench/peers/pthread/pthread.h"

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;

#define THREAD	       pthread_t
#define START(fn, arg) threads_start(fn, arg)
#define JOIN(thread)   pthread_join(thread, NULL)
#define RUNS_AT_ONCE   true
#define LOCK()	       pthread_mutex_lock(&table)
#define UNLOCK()       pthread_mutex_unlock(&table)
#define WAIT()	       pthread_cond_wait(&turned, &table)
#define SIGNAL()       pthread_cond_signal(&turned)

#include "bench/threads.h"

static void *yielder(void *arg)
{
	for (long rounds = *(long *)arg; rounds > 0; rounds--)
		sched_yield();
	return NULL;
}

static void run_yield(long count, long n)
{
	threads_on(1);
	threads_yield(count, n, yielder);
}

/* All threads of a round live until the last one has been started. */
static void *nothing(void *arg)
{
	LOCK();
	UNLOCK();
	return arg;
}

static void run_spawn(long count, long n)
{
	long rounds = count / n;
	pthread_t *threads = threads_room(n);
	double cpu;

	threads_on(1);
	cpu = work_cpu();
	for (long r = 0; r < rounds; r++) {
		pthread_mutex_lock(&table);
		for (long i = 0; i < n; i++)
			threads[i] = threads_start(nothing, NULL);
		pthread_mutex_unlock(&table);
		for (long i = 0; i < n; i++)
			pthread_join(threads[i], NULL);
	}
	work_report_each(cpu, rounds * n);
	free(threads);
}

static void run_cond(long count, long arg)
{
	threads_on(1);
	threads_cond(count, arg);
}

static void run_mutex(long count, long arg)
{
	/* glibc omits the locked instruction until a process has started a second thread. */
	JOIN(threads_start(nothing, NULL));
	threads_mutex(count, arg);
}

int main(int argc, char **argv)
{
	static const struct work works[] = {
		{"yield", run_yield},
		{"spawn", run_spawn},
		{"cond", run_cond},
		{"mutex", run_mutex},
		{"shared-mutex", threads_shared_mutex},
		{"shared-mutex-yield", threads_shared_mutex_yield},
		{"shared-rwlock", threads_shared_rwlock},
		{"shared-sem", threads_shared_sem},
		{"shared-queue-0", threads_shared_queue_0},
		{"shared-queue-16", threads_shared_queue_16},
		{"shared-queue-1024", threads_shared_queue_1024},
		{"shared-pipe-0", threads_shared_pipe_0},
		{"shared-pipe-16", threads_shared_pipe_16},
		{"shared-select", threads_shared_select},
		{"shared-broadcast", threads_shared_broadcast},
		{"shared-waitgroup", threads_shared_waitgroup},
		{"shared-group", threads_shared_group},
		{"shared-spawn", threads_shared_spawn},
		{"shared-table-mutex", threads_shared_table_mutex},
		{"shared-table-rwlock", threads_shared_table_rwlock},
	};

	return work_main(argc, argv, works, sizeof(works) / sizeof(works[0]));
}
