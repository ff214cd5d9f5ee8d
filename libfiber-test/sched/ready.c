/* SPDX-License-Identifier: MIT */
/*
 * ready.c - make fibers runnable; in place of libfiber/sched/ready.c
 *
 * The set of runnable fibers is an array in the order of the fibers' numbers: in the order in which
 * alternatives of a choice are counted. Tests have few fibers; an insertion moves the rest.
 */
#include "sched/ready.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "core/registry.h"
#include "sched/sched.h"

static struct {
	struct fiber **at;
	unsigned count, room;
	bool sorted;
} ready;

unsigned fib_ready_count(void)
{
	return ready.count;
}

struct fiber *fib_ready_at(unsigned i)
{
	return ready.at[i];
}

void fib_ready_begin(void)
{
	fib_check(!ready.count);
	ready.sorted = true;
}

void fib_ready_end(void)
{
	ready.sorted = false;
}

static void grow(void)
{
	ready.room = ready.room ? 2 * ready.room : 64;
	ready.at = realloc(ready.at, ready.room * sizeof *ready.at);
	fib_check(ready.at);
}

void fib_ready_add(struct fiber *fiber)
{
	unsigned i = ready.count;

	if (ready.count == ready.room)
		grow();
	/* Ids count up, so their order is that of the numbers. */
	while (ready.sorted && i && ready.at[i - 1]->id > fiber->id)
		i--;
	memmove(ready.at + i + 1, ready.at + i, (ready.count - i) * sizeof *ready.at);
	ready.at[i] = fiber;
	ready.count++;
}

struct fiber *fib_ready_take(unsigned i)
{
	struct fiber *fiber = ready.at[i];

	ready.count--;
	memmove(ready.at + i, ready.at + i + 1, (ready.count - i) * sizeof *ready.at);
	return fiber;
}

void fib_ready(struct fiber *fiber, bool front)
{
	(void)front;
	fib_show_runnable(fiber, fib_coarse_now());
	fib_ready_add(fiber);
}

void fib_ready_new(struct fiber *fiber)
{
	fib_store(&fiber->state, (uint8_t)FIBER_RUNNABLE);
	fib_ready_add(fiber);
}
