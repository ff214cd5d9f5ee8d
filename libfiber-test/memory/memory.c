/* SPDX-License-Identifier: MIT */
/* memory.c - begin and end of schedules, for the side that sees memory */
#include "memory.h"

#include "memory/access.h"
#include "memory/actors.h"
#include "memory/arena.h"
#include "memory/bytes.h"
#include "memory/heap.h"
#include "memory/private.h"
#include "memory/race.h"
#include "memory/shadow.h"

void fib_memory_begin(bool races)
{
	fib_arena_reset();
	fib_shadow_begin();
	fib_bytes_begin();
	fib_heap_begin();
	fib_access_looks_for_races(races && !fib_private_learning());
	fib_actors_begin();
}

void fib_memory_end(void)
{
	fib_actors_end();
}

bool fib_memory_learn_begin(void)
{
	fib_private_learn_begin();
	return true;
}

void fib_memory_learn_end(void)
{
	fib_private_learn_end();
}

bool fib_memory_complete(void)
{
	return !fib_private_contradicted();
}

void fib_memory_report(char *buf, size_t size)
{
	fib_race_report(buf, size);
}

void fib_memory_on_behalf_of(const struct fiber *fiber)
{
	fib_actors_lend(fiber);
}
