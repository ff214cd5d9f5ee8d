/* SPDX-License-Identifier: MIT */
/*
 * st.c - State Threads: one thread, no locks needed, and so none taken where libfiber takes one
 *
 * It has no yield (a sleep of no length goes through its timers and the poller), so it has no such
 * row. Its stacks have no guard.
 */
#include <st.h>

#include "bench/work.h"

#define STACK 65536

static st_thread_t start(void *(*fn)(void *), void *arg)
{
	st_thread_t thread = st_thread_create(fn, arg, 1, STACK);

	if (!thread)
		work_die("st_thread_create");
	return thread;
}

static st_thread_t *room_for(long n)
{
	st_thread_t *room = calloc((size_t)n, sizeof(st_thread_t));

	if (!room)
		work_die("calloc");
	return room;
}

static void *nothing(void *arg)
{
	return arg;
}

static void run_spawn(long count, long n)
{
	long rounds = count / n;
	st_thread_t *threads = room_for(n);
	double cpu = 0;

	for (long r = -1; r < rounds; r++) {
		if (!r)
			cpu = work_cpu();
		for (long i = 0; i < n; i++)
			threads[i] = start(nothing, NULL);
		for (long i = 0; i < n; i++)
			st_thread_join(threads[i], NULL);
	}
	work_report("ns", (work_cpu() - cpu) / (double)(rounds * n));
	free(threads);
}

static st_cond_t turned;
static int turn;

static void play(int me, long messages)
{
	while (messages-- > 0) {
		while (turn != me)
			st_cond_wait(turned);
		turn = !me;
		st_cond_signal(turned);
	}
}

static void *player(void *arg)
{
	play(1, *(long *)arg);
	return NULL;
}

static void run_cond(long count, long arg)
{
	long messages = count / 2;
	st_thread_t other;
	double cpu;

	(void)arg;
	turned = st_cond_new();
	other = start(player, &messages);
	cpu = work_cpu();
	play(0, messages);
	st_thread_join(other, NULL);
	work_report("ns", (work_cpu() - cpu) / (double)(messages * 2));
}

static void run_mutex(long count, long arg)
{
	st_mutex_t mutex = st_mutex_new();
	double cpu = work_cpu();

	(void)arg;
	for (long i = 0; i < count; i++) {
		st_mutex_lock(mutex);
		st_mutex_unlock(mutex);
	}
	work_report("ns", (work_cpu() - cpu) / (double)count);
}

static st_cond_t gate;
static int opened;
static long naps;
static float *late;

static void *sleeper(void *arg)
{
	long i = (long)(intptr_t)arg;
	uint32_t state = (uint32_t)i * 2654435761u + 1u;

	while (!opened)
		st_cond_wait(gate);
	for (long n = 0; n < naps; n++) {
		int64_t nap = work_nap(&state);
		double until = work_now() + (double)nap;

		st_usleep((st_utime_t)nap / 1000);
		late[i * naps + n] = (float)((work_now() - until) / 1e3);
	}
	return NULL;
}

static void run_naps(long n, long times)
{
	st_thread_t *threads = room_for(n);
	double cpu;

	naps = times;
	gate = st_cond_new();
	late = calloc((size_t)(n * naps), sizeof(*late));
	if (!late)
		work_die("calloc");
	memset(late, 1, (size_t)(n * naps) * sizeof(*late));
	for (long i = 0; i < n; i++)
		threads[i] = start(sleeper, (void *)(intptr_t)i);
	st_usleep(1000);
	cpu = work_cpu();
	opened = 1;
	st_cond_broadcast(gate);
	for (long i = 0; i < n; i++)
		st_thread_join(threads[i], NULL);
	work_report_naps(late, (size_t)(n * naps), work_cpu() - cpu);
	free(late);
	free(threads);
}

int main(int argc, char **argv)
{
	static const struct work works[] = {
		{"spawn", run_spawn},
		{"cond", run_cond},
		{"mutex", run_mutex},
		{"naps", run_naps},
	};

	st_set_eventsys(ST_EVENTSYS_ALT);
	if (st_init())
		work_die("st_init");
	return work_main(argc, argv, works, sizeof(works) / sizeof(works[0]));
}
