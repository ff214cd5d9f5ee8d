/* SPDX-License-Identifier: MIT */
/*
 * ran.c - what the carriers of a runtime ran between the readings, by the fibers' function
 *
 * A look meets only the few fibers that run at that moment. Their CPU time since the earlier reading
 * says which fibers have run in between. It is grouped by function, because what delays others is
 * usually many fibers that do the same.
 */
#include "inspect/why/ran.h"

#include <stdlib.h>

#include <fiber/fiber.h>

#include "inspect/why/runtimes.h"

/* CPU time of the fiber since the earlier reading. */
static uint64_t used(const struct ins_look *look, const struct ins_fiber *now)
{
	struct ins_fiber before;
	ssize_t at;

	if (look->single || now->row.cpu == FIB_ROW_UNKNOWN)
		return 0;
	at = ins_table_find(look->earlier.table, now->row.id);
	if (at < 0)
		return now->row.cpu;
	ins_table_get(look->earlier.table, (size_t)at, &before);
	return now->row.cpu > before.row.cpu ? now->row.cpu - before.row.cpu : 0;
}

static void add(struct ins_ran_functions *all, const struct ins_fiber *fiber, uint64_t ns)
{
	size_t i;

	for (i = 0; i < all->count && all->at[i].entry != fiber->row.entry; i++)
		;
	if (i == INS_RAN_MOST)
		return;
	if (i == all->count)
		all->at[all->count++] =
			(struct ins_ran_function){.entry = fiber->row.entry, .id = fiber->row.id};
	all->at[i].fibers++;
	all->at[i].ns += ns;
	all->fibers++;
	all->ns += ns;
}

static int by_time(const void *a, const void *b)
{
	const struct ins_ran_function *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->fibers > y->fibers ? -1 : x->fibers < y->fibers;
}

void ins_ran_find(const struct ins_look *look, uint64_t runtime, struct ins_ran_functions *ret)
{
	size_t i, n = ins_look_count(look);
	struct ins_fiber fiber;
	bool runs;
	uint64_t ns;

	*ret = (struct ins_ran_functions){0};
	for (i = 0; i < n; i++) {
		ins_look_get(look, i, &fiber);
		runs = fiber.row.state == FIBER_RUNNING && !ins_look_waits(&fiber);
		ns = used(look, &fiber);
		if ((look->single ? runs : ns > 0) && !(fiber.flags & INS_FIBER_THREAD) &&
		    ins_runtimes_may_be_one(fiber.row.runtime, runtime))
			add(ret, &fiber, ns);
	}
	qsort(ret->at, ret->count, sizeof *ret->at, by_time);
}
