/* SPDX-License-Identifier: MIT */
/* one_moment.c - whether a single reading proves a deadlock */
#include "inspect/waits/one_moment.h"

#include <fiber/fiber.h>

#include "inspect/waits/stillness.h"

struct ages {
	int64_t shortest, longest;
};

static int64_t took(const struct ins_graph *graph)
{
	return ins_table_summary(ins_graph_table(graph))->sampled_ns;
}

/* moment: all rows are of one moment, or another reading confirms them. */
static void add_age(const struct ins_graph *graph, size_t i, bool moment, struct ages *ages)
{
	struct ins_fiber fiber;

	ins_table_get(ins_graph_table(graph), i, &fiber);
	if (fiber.flags & INS_FIBER_SLEPT)
		return;
	/* The age of a pinned fiber is that of its run: it may have begun to wait just now. */
	if (!moment && fiber.row.carrier != FIB_ROW_CARRIER_NONE)
		fiber.row.age = 0;
	if (fiber.row.age > ages->longest)
		ages->longest = fiber.row.age;
	if (fiber.row.age < ages->shortest)
		ages->shortest = fiber.row.age;
}

void ins_one_moment_ages(const struct ins_graph *graph, const struct ins_deadlock *d, bool single,
			 int64_t *ret_shortest, int64_t *ret_longest)
{
	const bool moment = !single || !took(graph);
	struct ages ages = {INT64_MAX, 0};
	size_t i;

	for (i = 0; i < d->count; i++)
		add_age(graph, d->fibers[i], moment, &ages);
	*ret_shortest = ages.shortest;
	*ret_longest = ages.longest;
}

/* Whether the fiber runs or can run. One that sleeps in a lock of the system does not. */
static bool can_run(const struct fib_row *row)
{
	if (row->state == FIBER_RUNNABLE)
		return true;
	if (row->state != FIBER_RUNNING)
		return false;
	if (row->wait_kind == FIB_WAIT_PINNED)
		return !row->holder;
	return row->wait_kind == FIB_WAIT_NONE || row->wait_kind == FIB_WAIT_YIELD || !row->pins;
}

bool ins_graph_at_rest(const struct ins_graph *graph)
{
	const size_t n = ins_graph_count(graph);
	struct ins_fiber fiber;
	size_t i;

	for (i = 0; i < n; i++) {
		ins_table_get(ins_graph_table(graph), i, &fiber);
		if (can_run(&fiber.row))
			return false;
	}
	return true;
}

static bool is_unsure(const struct ins_graph *graph, const struct ins_deadlock *d)
{
	size_t i;

	for (i = 0; i < d->count; i++)
		if (ins_graph_at(graph, d->fibers[i])->unsure)
			return true;
	return false;
}

/* Of a fiber or thread that waits for itself. */
static bool is_no_hand_over(const struct ins_graph *graph, const struct ins_deadlock *d)
{
	struct ins_fiber fiber;
	int64_t shortest, longest;

	ins_table_get(ins_graph_table(graph), d->fibers[0], &fiber);
	if (fiber.flags & INS_FIBER_SLEPT)
		return true;
	ins_one_moment_ages(graph, d, true, &shortest, &longest);
	return longest >= INS_SELF_LONG ||
	       (!took(graph) && (fiber.flags & INS_FIBER_THREAD || ins_graph_at_rest(graph)));
}

bool ins_one_moment(const struct ins_graph *graph, const struct ins_deadlock *d)
{
	const size_t n = ins_graph_count(graph);
	struct ages all = {INT64_MAX, 0};
	int64_t shortest, longest;
	size_t i;

	if (d->kind == INS_DEADLOCK_SELF && !is_no_hand_over(graph, d))
		return false;
	/* The clock of a core rests while its fibers sleep, but all of it is of one moment. */
	if (!took(graph))
		return true;
	ins_one_moment_ages(graph, d, true, &shortest, &longest);
	for (i = 0; is_unsure(graph, d) && i < n; i++)
		add_age(graph, i, false, &all);
	if (all.shortest < shortest)
		shortest = all.shortest;
	return shortest - INS_AGE_MOMENT > took(graph);
}
