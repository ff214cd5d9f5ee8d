/* SPDX-License-Identifier: MIT */
/*
 * ready.c - make fibers runnable; in place of libfiber/sched/ready.c
 *
 * The set of runnable fibers is an array in the order of the fibers' numbers: in the order in which
 * alternatives of a choice are counted. Tests have few fibers; an insertion moves the rest.
 *
 * A fiber with FIBER_IDLE is kept apart when it becomes runnable, because it runs only if no other can.
 * One that another fiber preempts is runnable like any other: its carrier would go on with it.
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

static struct set ready, kept_back, idle;
static bool sorted;   /* ready is */
static bool idle_ran; /* since time went on */

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
	fib_check(!ready.count && !kept_back.count && !idle.count);
	sorted = true;
	idle_ran = false;
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

void fib_ready_add_idle(struct fiber *fiber)
{
	make_room(&idle);
	idle.at[idle.count++] = fiber;
}

bool fib_ready_release_idle(bool deadline)
{
	if (!idle.count || (idle_ran && deadline)) {
		idle_ran = false;
		return false;
	}
	idle_ran = true;
	fib_ready_add(idle.at[0]);
	memmove(idle.at, idle.at + 1, --idle.count * sizeof *idle.at);
	return true;
}

/* It was not running before. */
static void add_new(struct fiber *fiber)
{
	if (fiber->flags & FIBER_IDLE)
		fib_ready_add_idle(fiber);
	else
		fib_ready_add(fiber);
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
	add_new(fiber);
}

void fib_ready_new(struct fiber *fiber)
{
	fib_store(&fiber->state, (uint8_t)FIBER_RUNNABLE);
	add_new(fiber);
}
