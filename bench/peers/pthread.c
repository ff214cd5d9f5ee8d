/* SPDX-License-Identifier: MIT */
/*
 * pthread.c - threads of the system, all on one CPU as fibers of one carrier are
 *
 * Yield is sched_yield(2). CPU time counts the kernel's part, which is nearly all of it.
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

static pthread_t *room_for(long n)
{
	pthread_t *room = calloc((size_t)n, sizeof(*room));

	if (!room)
		work_die("calloc");
	return room;
}

static void *yielder(void *arg)
{
	for (long rounds = *(long *)arg; rounds > 0; rounds--)
		sched_yield();
	return NULL;
}

static void run_yield(long count, long n)
{
	long rounds = count / n;
	pthread_t *threads = room_for(n);
	double cpu;

	on_one_cpu();
	cpu = work_cpu();
	for (long i = 0; i < n; i++)
		threads[i] = start(yielder, &rounds);
	for (long i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	work_report("ns", (work_cpu() - cpu) / (double)(rounds * n));
	free(threads);
}

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn;

static void *nothing(void *arg)
{
	/* All of a round are alive until the last one was started. */
	pthread_mutex_lock(&table);
	pthread_mutex_unlock(&table);
	return arg;
}

static void run_spawn(long count, long n)
{
	long rounds = count / n;
	pthread_t *threads = room_for(n);
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
	work_report("ns", (work_cpu() - cpu) / (double)(rounds * n));
	free(threads);
}

static void play(int me, long messages)
{
	pthread_mutex_lock(&table);
	while (messages-- > 0) {
		while (turn != me)
			pthread_cond_wait(&turned, &table);
		turn = !me;
		pthread_cond_signal(&turned);
	}
	pthread_mutex_unlock(&table);
}

static void *player(void *arg)
{
	play(1, *(long *)arg);
	return NULL;
}

static void run_cond(long count, long arg)
{
	long messages = count / 2;
	pthread_t other;
	double cpu;

	(void)arg;
	on_one_cpu();
	cpu = work_cpu();
	other = start(player, &messages);
	play(0, messages);
	pthread_join(other, NULL);
	work_report("ns", (work_cpu() - cpu) / (double)(messages * 2));
}

static void run_mutex(long count, long arg)
{
	pthread_t other;
	double cpu;

	/* glibc leaves out the locked instruction while a process has never had a second thread. */
	(void)arg;
	other = start(nothing, NULL);
	pthread_join(other, NULL);
	cpu = work_cpu();
	for (long i = 0; i < count; i++) {
		pthread_mutex_lock(&table);
		pthread_mutex_unlock(&table);
	}
	work_report("ns", (work_cpu() - cpu) / (double)count);
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
