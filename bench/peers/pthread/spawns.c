/* SPDX-License-Identifier: MIT */
/* spawns.c - threads that start others and join them; an operation is one */
#include "bench/peers/pthread/pthread.h"

static void *member(void *arg)
{
	work_little((uint32_t)(intptr_t)arg);
	return arg;
}

void threads_shared_group(long count, long cpus)
{
	const long rounds = count / MANY;
	pthread_t threads[MANY];
	struct threads_costs since;

	threads_on(cpus);
	since = threads_costs_begin();
	for (long r = 0; r < rounds; r++) {
		for (long i = 0; i < MANY; i++)
			threads[i] = threads_start(member, (void *)i);
		for (long i = 0; i < MANY; i++)
			pthread_join(threads[i], NULL);
	}
	threads_costs_report(&since, rounds * MANY);
}

#define PARENTS	 4
#define CHILDREN 10

static void *child(void *arg)
{
	return arg;
}

static void *starts_and_joins(void *arg)
{
	pthread_t children[CHILDREN];

	for (long n = 0; n < threads_turns; n += CHILDREN) {
		for (int i = 0; i < CHILDREN; i++)
			children[i] = threads_start(child, NULL);
		for (int i = 0; i < CHILDREN; i++)
			pthread_join(children[i], NULL);
	}
	return arg;
}

void threads_shared_spawn(long count, long cpus)
{
	threads_turns = count / PARENTS / CHILDREN * CHILDREN;
	threads_race(starts_and_joins, PARENTS, cpus);
}
