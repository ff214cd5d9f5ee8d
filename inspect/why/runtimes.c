/* SPDX-License-Identifier: MIT */
/* runtimes.c - what a rule finds out about each runtime of a program */
#include "inspect/why/runtimes.h"

#include "inspect/why/look.h"

bool ins_runtimes_may_be_one(uint64_t a, uint64_t b)
{
	return !a || !b || a == b;
}

/* The entry of a runtime, which is added. */
static struct ins_runtime *find(struct ins_runtimes *all, uint64_t id)
{
	size_t i;

	for (i = 0; i < all->count && all->at[i].id != id; i++)
		;
	if (i == all->count && i >= INS_RUNTIMES_MOST && id)
		return find(all, 0);
	if (i == all->count)
		all->at[all->count++].id = id;
	return &all->at[i];
}

void ins_runtimes_find(const struct ins_look *look, struct ins_runtimes *ret)
{
	size_t i, n = ins_look_count(look);
	struct ins_runtime *runtime;
	struct ins_fiber fiber;

	*ret = (struct ins_runtimes){0};
	for (i = 0; i < n; i++) {
		ins_look_get(look, i, &fiber);
		if (ins_look_runnable(&fiber)) {
			runtime = find(ret, fiber.row.runtime);
			runtime->runnable++;
			runtime->delayed += fiber.row.age >= ins_look_delay(look) &&
					    ins_look_stayed(look, &fiber);
		} else if (ins_look_keeps(look, &fiber)) {
			find(ret, fiber.row.runtime)->kept = true;
		}
	}
}

uint64_t ins_runtimes_delayed(const struct ins_runtimes *runtimes, uint64_t id)
{
	uint64_t delayed = 0;
	size_t i;

	for (i = 0; i < runtimes->count; i++)
		if (ins_runtimes_may_be_one(runtimes->at[i].id, id))
			delayed += runtimes->at[i].delayed;
	return delayed;
}

bool ins_runtimes_kept(const struct ins_runtimes *runtimes, uint64_t id)
{
	bool kept = false;
	size_t i;

	for (i = 0; i < runtimes->count; i++)
		kept |= ins_runtimes_may_be_one(runtimes->at[i].id, id) && runtimes->at[i].kept;
	return kept;
}
