/* SPDX-License-Identifier: MIT */
/* race.c - threads that start together on some CPUs, and what their operations cost */
#include <sched.h>

#include "bench/peers/pthread/pthread.h"

void threads_on(long n)
{
	const int here = sched_getcpu();
	cpu_set_t allowed, some;

	CPU_ZERO(&some);
	if (here < 0 || sched_getaffinity(0, sizeof(allowed), &allowed))
		work_die("sched_getaffinity");
	for (int i = 0; i < CPU_SETSIZE && n; i++) {
		const int cpu = (here + i) % CPU_SETSIZE;

		if (CPU_ISSET(cpu, &allowed)) {
			CPU_SET(cpu, &some);
			n--;
		}
	}
	if (sched_setaffinity(0, sizeof(some), &some))
		work_die("sched_setaffinity");
}

pthread_t threads_start(void *(*fn)(void *), void *arg)
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

struct threads_costs threads_costs_begin(void)
{
	return (struct threads_costs){work_now(), work_cpu()};
}

void threads_costs_report(const struct threads_costs *since, long n)
{
	work_report("ns", (work_now() - since->now) / (double)n);
	work_report("cpu", (work_cpu() - since->cpu) / (double)n);
}

long threads_turns;

static pthread_barrier_t all_started;
static void *(*racer)(void *);

static void *runs(void *arg)
{
	pthread_barrier_wait(&all_started);
	return racer(arg);
}

void threads_race(void *(*fn)(void *), long n, long cpus)
{
	pthread_t threads[MANY];
	struct threads_costs since;

	threads_on(cpus);
	racer = fn;
	pthread_barrier_init(&all_started, NULL, (unsigned)n + 1);
	for (long i = 0; i < n; i++)
		threads[i] = threads_start(runs, (void *)i);
	since = threads_costs_begin();
	pthread_barrier_wait(&all_started);
	for (long i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	threads_costs_report(&since, threads_turns * n);
}
