/* SPDX-License-Identifier: MIT */
/*
 * lost_before.c - what an earlier reading of the same process says about the fibers of a core
 *
 * A core is one moment. A fiber that seems lost in it may have begun its wait a moment before, and its
 * waker may be about to store the pointer that the search did not find. A fiber that was in the same wait
 * in an earlier reading has waited since then. The switch count shows that: it changes whenever a
 * fiber runs. The id has the generation, so a fiber that took the record of another one is not confused
 * with it. The start of the wait is compared too: two runs of a program may count alike.
 *
 * Which of the two is older: a core has no time of its own. It has the coarse clock, which stands still
 * while all fibers sleep. So a core with a later clock is younger, and one with an earlier clock may be. Then
 * the core is older if its file is, or if a fiber has run after the clock of the core. Else nothing has
 * happened between the two, and each of them may come first.
 */
#include "inspect/leaks/lost_before.h"

#include "inspect/waits/stillness.h"

/* The start of the state of a fiber, ns of the process' clock; 0: unknown. */
static int64_t since(const struct ins_fiber *fiber)
{
	return fiber->now ? fiber->now - fiber->row.age : 0;
}

static bool at_one_time(int64_t a, int64_t b)
{
	return !a || !b || (a - b < INS_AGE_MOMENT && b - a < INS_AGE_MOMENT);
}

static bool find(struct ins_table *table, uint64_t id, struct ins_fiber *ret)
{
	const ssize_t i = ins_table_find(table, id);

	if (i >= 0)
		ins_table_get(table, (size_t)i, ret);
	return i >= 0;
}

bool ins_lost_before_waited(struct ins_table *before, const struct ins_fiber *now)
{
	struct ins_fiber then;

	return find(before, now->row.id, &then) && then.row.seq == now->row.seq &&
	       then.row.wait_kind == now->row.wait_kind &&
	       then.row.wait_object == now->row.wait_object &&
	       at_one_time(since(&then), since(now));
}

/* When the fibers of a table were read, by the process' clock; 0: unknown. */
static int64_t clock_of(struct ins_table *table)
{
	struct ins_fiber fiber = {.now = 0};

	if (ins_table_count(table))
		ins_table_get(table, 0, &fiber);
	return fiber.now;
}

bool ins_lost_before_is_younger(struct ins_table *before, struct ins_table *core, int64_t written)
{
	const int64_t clock = clock_of(core), taken = ins_table_summary(before)->taken;
	struct ins_fiber then, now;
	size_t i;

	if (clock && clock_of(before) <= clock)
		return false;
	if (written && taken > written)
		return true;
	for (i = 0; i < ins_table_count(before); i++) {
		ins_table_get(before, i, &then);
		if (clock && since(&then) > clock + INS_AGE_MOMENT)
			return true;
		/* Sequence numbers only increase. */
		if (find(core, then.row.id, &now) && then.row.seq > now.row.seq)
			return true;
	}
	return false;
}
