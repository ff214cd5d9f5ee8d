/* SPDX-License-Identifier: MIT */
/* pth.c - GNU Pth: one thread, priorities, a scheduler that runs between any two of its threads. */
#include <pth.h>

#include "bench/work.h"

static pth_t start(void *(*fn)(void *), void *arg)
{
	pth_t thread = pth_spawn(PTH_ATTR_DEFAULT, fn, arg);

	if (!thread)
		work_die("pth_spawn");
	return thread;
}

static pth_t *room_for(long n)
{
	pth_t *room = calloc((size_t)n, sizeof(pth_t));

	if (!room)
		work_die("calloc");
	return room;
}

static void *yielder(void *arg)
{
	for (long rounds = *(long *)arg; rounds > 0; rounds--)
		pth_yield(NULL);
	return NULL;
}

static void run_yield(long count, long n)
{
	long rounds = count / n;
	pth_t *threads = room_for(n);
	double cpu;

	for (long i = 0; i < n; i++)
		threads[i] = start(yielder, &rounds);
	cpu = work_cpu();
	for (long i = 0; i < n; i++)
		pth_join(threads[i], NULL);
	work_report("ns", (work_cpu() - cpu) / (double)(rounds * n));
	free(threads);
}

static void *nothing(void *arg)
{
	return arg;
}

static void run_spawn(long count, long n)
{
	long rounds = count / n;
	pth_t *threads = room_for(n);
	double cpu = 0;

	for (long r = -1; r < rounds; r++) {
		if (!r)
			cpu = work_cpu();
		for (long i = 0; i < n; i++)
			threads[i] = start(nothing, NULL);
		for (long i = 0; i < n; i++)
			pth_join(threads[i], NULL);
	}
	work_report("ns", (work_cpu() - cpu) / (double)(rounds * n));
	free(threads);
}

static pth_mutex_t table = PTH_MUTEX_INIT;
static pth_cond_t turned = PTH_COND_INIT;
static int turn;

static void play(int me, long messages)
{
	pth_mutex_acquire(&table, FALSE, NULL);
	while (messages-- > 0) {
		while (turn != me)
			pth_cond_await(&turned, &table, NULL);
		turn = !me;
		pth_cond_notify(&turned, FALSE);
	}
	pth_mutex_release(&table);
}

static void *player(void *arg)
{
	play(1, *(long *)arg);
	return NULL;
}

static void run_cond(long count, long arg)
{
	long messages = count / 2;
	pth_t other = start(player, &messages);
	double cpu = work_cpu();

	(void)arg;
	play(0, messages);
	pth_join(other, NULL);
	work_report("ns", (work_cpu() - cpu) / (double)(messages * 2));
}

static void run_mutex(long count, long arg)
{
	double cpu = work_cpu();

	(void)arg;
	for (long i = 0; i < count; i++) {
		pth_mutex_acquire(&table, FALSE, NULL);
		pth_mutex_release(&table);
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

	if (!pth_init())
		work_die("pth_init");
	return work_main(argc, argv, works, sizeof(works) / sizeof(works[0]));
}
