/* SPDX-License-Identifier: MIT */
/* rounds.c - a hundred fibers that wait for a round and finish it; an operation is a round */
#include "bench/libfiber/shared/shared.h"

/* -- a condition: broadcast, until all have answered -- */

static struct fiber_mutex table;
static struct fiber_cond round_begins, all_back;
static long current, back;

static void *answers(void *arg)
{
	fiber_mutex_lock(&table, FIBER_FOREVER);
	for (long seen = 0; seen < bench_turns; seen++) {
		if (++back == MANY)
			fiber_cond_signal(&all_back);
		while (current == seen)
			fiber_cond_wait(&round_begins, &table, FIBER_FOREVER);
	}
	fiber_mutex_unlock(&table);
	return arg;
}

static void *broadcasts_main(void *arg)
{
	struct fiber *fibers[MANY];
	struct bench_costs since;

	bench_turns = *(long *)arg;
	for (long i = 0; i < MANY; i++)
		fibers[i] = bench_start(answers, NULL);
	fiber_mutex_lock(&table, FIBER_FOREVER);
	since = bench_costs_begin();
	for (long i = 0; i < bench_turns; i++) {
		while (back < MANY)
			fiber_cond_wait(&all_back, &table, FIBER_FOREVER);
		back = 0;
		current++;
		fiber_cond_broadcast(&round_begins);
	}
	fiber_mutex_unlock(&table);
	for (long i = 0; i < MANY; i++)
		bench_finish(fibers[i]);
	bench_costs_report(&since, bench_turns);
	return NULL;
}

void bench_shared_broadcast(long count, long carriers)
{
	bench_run(broadcasts_main, &count, (unsigned)carriers);
}

/* -- waitgroups: one starts a round for all, another counts those that have finished it -- */

static struct fiber_waitgroup gates[2]; /* of even and of odd rounds; 1 until the round starts */
static struct fiber_waitgroup unfinished;

static void *finishes(void *arg)
{
	for (long i = 0; i < bench_turns; i++) {
		fiber_waitgroup_wait(&gates[i % 2], FIBER_FOREVER);
		fiber_waitgroup_done(&unfinished);
	}
	return arg;
}

static void *waitgroup_main(void *arg)
{
	struct fiber *fibers[MANY];
	struct bench_costs since;

	bench_turns = *(long *)arg;
	fiber_waitgroup_add(&gates[0], 1);
	for (long i = 0; i < MANY; i++)
		fibers[i] = bench_start(finishes, NULL);
	since = bench_costs_begin();
	for (long i = 0; i < bench_turns; i++) {
		fiber_waitgroup_add(&unfinished, MANY);
		/* The next gate is shut before a fiber can reach it. */
		fiber_waitgroup_add(&gates[(i + 1) % 2], 1);
		fiber_waitgroup_done(&gates[i % 2]);
		fiber_waitgroup_wait(&unfinished, FIBER_FOREVER);
	}
	bench_costs_report(&since, bench_turns);
	for (long i = 0; i < MANY; i++)
		bench_finish(fibers[i]);
	return NULL;
}

void bench_shared_waitgroup(long count, long carriers)
{
	bench_run(waitgroup_main, &count, (unsigned)carriers);
}
