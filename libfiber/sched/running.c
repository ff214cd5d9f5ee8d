/* SPDX-License-Identifier: MIT */
/*
 * elsewhere.c - does a fiber run on another carrier at this moment?
 *
 * For a caller that can wait a moment without leaving its CPU, which is right only while the fiber
 * that it waits for makes progress. Each look reads a cache line of each carrier, which that
 * carrier writes. So it is for callers that would otherwise suspend, and no more than once in a
 * microsecond.
 */
#include "sched/elsewhere.h"

#include "sched/sched.h"

#define CARRIERS_MAX 64u

/*
 * The carrier changes this pointer at any time. It points to a record, and records are never
 * unmapped: so at worst this reads the id of a fiber that has just been left.
 */
fib_unwatched static uint64_t current_id(const struct fib_carrier *c)
{
	const struct fiber *fiber = *(struct fiber *const volatile *)&c->current;

	return fiber ? *(const volatile uint64_t *)&fiber->id : 0;
}

bool fib_runs_elsewhere(const struct fib_carrier *c, uint64_t id)
{
	const struct fib_sched *s = c->sched;
	unsigned i;

	if (s->carrier_count > CARRIERS_MAX)
		return false;
	for (i = 0; i < s->carrier_count; i++)
		if (&s->carriers[i] != c && current_id(&s->carriers[i]) == id)
			return true;
	return false;
}
