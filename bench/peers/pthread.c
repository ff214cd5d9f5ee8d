/* SPDX-License-Identifier: MIT */
/*
 * pthread.c - system threads, all on one CPU, as fibers of one carrier are
 *
 * Yield is sched_yield(2). CPU time includes the kernel's part, which is nearly all of it.
 */
#include <pthread.h>
#include <sched.h>

#include "bench/work.h"

static void on_one_cpu(void)
{
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	sched_setaffinity(0, sizeof(here), &here);
}

static pthread_t start(void *(*fn)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	if (pthread_create(&thread, &attr, fn, arg))
		work_die("pthread_create");
	pthread_attr_destroy(&attr);
	return thread;
}

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;

#define THREAD	       pthread_t
#define START(fn, arg) start(fn, arg)
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
	on_one_cpu();
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

	on_one_cpu();
	cpu = work_cpu();
	for (long r = 0; r < rounds; r++) {
		pthread_mutex_lock(&table);
		for (long i = 0; i < n; i++)
			threads[i] = start(nothing, NULL);
		pthread_mutex_unlock(&table);
		for (long i = 0; i < n; i++)
			pthread_join(threads[i], NULL);
	}
	work_report_each(cpu, rounds * n);
	free(threads);
}

static void run_cond(long count, long arg)
{
	on_one_cpu();
	threads_cond(count, arg);
}

static void run_mutex(long count, long arg)
{
	/* glibc omits the locked instruction until a process has started a second thread. */
	JOIN(start(nothing, NULL));
	threads_mutex(count, arg);
}

int main(int argc, char **argv)
{
	static const struct work works[] = {
		{"yield", run_yield},
		{"spawn", run_spawn},
		{"cond", run_cond},
		{"mutex", run_mutex},
	};

	return work_main(argc, argv, works, sizeof(works) / sizeof(works[0]));
}
