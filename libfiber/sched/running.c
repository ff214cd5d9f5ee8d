/* SPDX-License-Identifier: MIT */
/*
 * running.c - which fiber runs on a carrier at this moment, for other threads
 *
 * A carrier writes the pointer without synchronisation, at each switch. It points to a record, and
 * records are never unmapped: so at worst a reader gets the fiber that has just been left.
 *
 * A caller can wait for a running fiber without leaving its CPU. Each look reads a cache line of each
 * carrier, which that carrier writes. So it is for callers that would otherwise suspend, and no more
 * than once in a microsecond.
 */
#include "sched/running.h"

#include "sched/sched.h"

#define CARRIERS_MAX 64u

fib_unwatched struct fiber *fib_running_on(const struct fib_carrier *c)
{
	return *(struct fiber *const volatile *)&c->current;
}

fib_unwatched static uint64_t id_on(const struct fib_carrier *c)
{
	const struct fiber *fiber = fib_running_on(c);

	return fiber ? *(const volatile uint64_t *)&fiber->id : 0;
}

bool fib_running_beside(const struct fib_carrier *c, uint64_t id)
{
	const struct fib_sched *s = c->sched;
	unsigned i;

	if (s->carrier_count > CARRIERS_MAX)
		return false;
	for (i = 0; i < s->carrier_count; i++)
		if (&s->carriers[i] != c && id_on(&s->carriers[i]) == id)
			return true;
	return false;
}
