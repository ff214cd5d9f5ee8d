/* SPDX-License-Identifier: MIT */
/* spawns.c - fibers of several carriers that spawn others and wait for them; an operation is one */
#include <fiber/group.h>

#include "bench/libfiber/shared/shared.h"

/* -- groups: a round spawns a hundred members and waits for them -- */

static _Atomic long members;

static void *member(void *arg)
{
	work_little((uint32_t)(intptr_t)arg);
	return arg;
}

static void *last_member(void *arg)
{
	members++;
	return member(arg);
}

static void *groups_main(void *arg)
{
	const long rounds = *(long *)arg / MANY;
	const struct bench_costs since = bench_costs_begin();

	for (long r = 0; r < rounds; r++) {
		struct fiber_group group = {0};

		for (long i = 0; i < MANY; i++)
			if (fiber_group_spawn(&group, i < MANY - 1 ? member : last_member,
					      (void *)i))
				work_die("fiber_group_spawn");
		if (fiber_group_wait(&group, FIBER_FOREVER))
			work_die("fiber_group_wait");
	}
	bench_costs_report(&since, rounds * MANY);
	if (members != rounds)
		work_die("the count of members");
	return NULL;
}

void bench_shared_group(long count, long carriers)
{
	bench_run(groups_main, &count, (unsigned)carriers);
}

/* -- four parents, each of which spawns ten children at a time and joins them -- */

#define PARENTS	 4
#define CHILDREN 10

static void *child(void *arg)
{
	return arg;
}

static void *spawns_and_joins(void *arg)
{
	struct fiber *children[CHILDREN];

	for (long n = 0; n < bench_turns; n += CHILDREN) {
		for (int i = 0; i < CHILDREN; i++)
			children[i] = bench_start(child, NULL);
		for (int i = 0; i < CHILDREN; i++)
			bench_finish(children[i]);
	}
	return arg;
}

static void *parents_main(void *arg)
{
	bench_turns = *(long *)arg / PARENTS / CHILDREN * CHILDREN;
	bench_race(spawns_and_joins, PARENTS);
	return NULL;
}

void bench_shared_spawn(long count, long carriers)
{
	bench_run(parents_main, &count, (unsigned)carriers);
}
