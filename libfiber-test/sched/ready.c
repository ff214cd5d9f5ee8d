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
#include "sched/recorder.h"
#include "sched/sched.h"

struct set {
	struct fiber **at;
	unsigned count, room;
};

static struct set ready, kept_back;
static bool sorted; /* ready is */

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
	fib_check(!ready.count && !kept_back.count);
	sorted = true;
}

void fib_ready_end(void)
{
	sorted = false;
}

static void make_room(struct set *s)
{
	if (s->count < s->room)
		return;
	s->room = s->room ? 2 * s->room : 64;
	s->at = realloc(s->at, s->room * sizeof *s->at);
	fib_check(s->at);
}

void fib_ready_add(struct fiber *fiber)
{
	unsigned i = ready.count;

	make_room(&ready);
	/* Ids count up, so their order is that of the numbers. */
	while (sorted && i && ready.at[i - 1]->id > fiber->id)
		i--;
	memmove(ready.at + i + 1, ready.at + i, (ready.count - i) * sizeof *ready.at);
	ready.at[i] = fiber;
	ready.count++;
}

void fib_ready_keep_back(struct fiber *fiber)
{
	make_room(&kept_back);
	kept_back.at[kept_back.count++] = fiber;
}

bool fib_ready_release(void)
{
	if (!kept_back.count)
		return false;
	while (kept_back.count)
		fib_ready_add(kept_back.at[--kept_back.count]);
	return true;
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
	if (fib_unlikely(fib_load(&fiber->sched->recording) != NULL))
		fib_recorder_woke(fiber->sched, fiber);
	fib_show_runnable(fiber, fib_coarse_now());
	fib_ready_add(fiber);
}

void fib_ready_new(struct fiber *fiber)
{
	fib_store(&fiber->state, (uint8_t)FIBER_RUNNABLE);
	fib_ready_add(fiber);
}
