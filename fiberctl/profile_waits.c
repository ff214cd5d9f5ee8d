/* SPDX-License-Identifier: MIT */
/*
 * profile_waits.c - look again and again at where the fibers of a program wait
 *
 * Each look reads all fibers with their stacks. A fiber that a look sees waiting counts for the
 * whole time since the look before: over many looks at random times the sum is the time that fibers
 * have waited there, also for waits that are shorter than the time between two looks, most of which
 * no look sees. A wait has the fiber's id and its sequence number, which changes at each switch; a
 * wait that the look before did not see counts as a new one.
 *
 * Looks are 100 ms apart, or further if they take long: together they take 2 % of the time at most.
 * There is always one at the start and one at the end.
 *
 * For waits behind others (block) the graph of waits says who holds what. The stack of a waiter
 * stands on a frame that names the object and its holder, and that on the holder's own stack if it
 * waits too: what it waits for, and so on.
 */
#include "fiberctl/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fiberctl/interrupt.h"
#include "inspect/model/words.h"
#include "inspect/text/duration.h"
#include "inspect/unwind/thread_stack_walk.h"
#include "inspect/waits/graph.h"

#define EVERY INT64_C(100000000) /* ns between two looks, at least */
#define PART  50		 /* one ns in so many may go into looks */
#define CHAIN 10		 /* holders that are followed from a waiter */
#define NONE  UINT32_MAX	 /* no part: the fiber does not wait */

/* A fiber at one look. */
struct seen {
	uint64_t id, seq;
	uint32_t pinned_waits; /* with seq: new at every wait */
	ins_profile_part part; /* its stack */
};

struct looking {
	struct ctl_profile *p;
	struct seen *now, *before; /* sorted by id, after the look */
	size_t now_count, now_room, before_count, before_room;
	struct ins_table *table; /* block */
	struct ins_walk walk;
	uint64_t rand;
};

static int part_of(struct looking *l, const struct ins_fiber *fiber, ins_profile_part *ret)
{
	*ret = NONE;
	if (fiber->row.wait_kind == FIB_WAIT_NONE || fiber->row.wait_kind == FIB_WAIT_YIELD)
		return 0;
	ins_walk_row(l->p->unwinder, fiber, &l->walk);
	if (l->walk.count || l->walk.truncated)
		return ins_profile_walk(l->p->profile, &l->walk, ret);
	return ins_profile_text(l->p->profile, "[no stack]", ret);
}

static int take(void *context, const struct ins_fiber *fiber)
{
	struct looking *l = context;
	struct seen *seen = l->now;
	int rc;

	if (l->now_count == l->now_room) {
		const size_t room = l->now_room ? l->now_room * 2 : 256;

		seen = realloc(seen, room * sizeof *seen);
		if (!seen)
			return -ENOMEM;
		l->now = seen;
		l->now_room = room;
	}
	seen += l->now_count;
	*seen = (struct seen){fiber->row.id, fiber->row.seq, fiber->row.pinned_waits, NONE};
	rc = part_of(l, fiber, &seen->part);
	if (rc == 0)
		l->now_count++;
	return rc == 0 && l->table ? ins_table_add(l->table, fiber) : rc;
}

static int by_id(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static const struct seen *find(const struct seen *at, size_t count, uint64_t id)
{
	const struct seen key = {.id = id};

	return count ? bsearch(&key, at, count, sizeof *at, by_id) : NULL;
}

/* Whether the look before has not seen this wait. */
static bool is_new(const struct looking *l, const struct seen *seen)
{
	const struct seen *before = find(l->before, l->before_count, seen->id);

	return !before || before->part == NONE || before->seq != seen->seq ||
	       before->pinned_waits != seen->pinned_waits;
}

/* -- waits behind others -- */

/* "keeper", "serve()", "fiber 7", "thread 41". Returns buf. */
static const char *say_holder(const struct looking *l, const struct ins_node *node, char *buf,
			      size_t size)
{
	const ssize_t at = ins_table_find(l->table, node->holder);
	struct ins_fiber holder;

	if (at >= 0)
		ins_table_get(l->table, (size_t)at, &holder);
	if (at >= 0 && holder.row.name[0])
		snprintf(buf, size, "%s", holder.row.name);
	else
		snprintf(buf, size, "%s %llu",
			 node->holder & FIB_HOLDER_THREAD ? "thread" : "fiber",
			 (unsigned long long)ins_words_id(node->holder));
	return buf;
}

/* [mutex "cfg" held by keeper] */
static int link_of(struct looking *l, const struct ins_graph *graph, size_t i,
		   ins_profile_part *ret)
{
	const struct ins_node *node = ins_graph_at(graph, i);
	char wait[256], who[64], text[400];
	struct ins_fiber fiber;

	ins_table_get(l->table, i, &fiber);
	fiber.row.holder = 0;
	fiber.flags &= ~INS_FIBER_UNSURE;
	if (node->kind == FIB_WAIT_JOIN)
		snprintf(text, sizeof text, "[join %s]", say_holder(l, node, who, sizeof who));
	else if (node->holder)
		snprintf(text, sizeof text, "[%s held by %s]",
			 ins_words_wait(&l->p->source->layout, &fiber, false, wait, sizeof wait),
			 say_holder(l, node, who, sizeof who));
	else
		snprintf(text, sizeof text, "[%s]",
			 ins_words_wait(&l->p->source->layout, &fiber, false, wait, sizeof wait));
	return ins_profile_text(l->p->profile, text, ret);
}

static bool waits_behind(const struct ins_graph *graph, size_t i)
{
	const struct ins_node *node = ins_graph_at(graph, i);

	return ins_node_waits(node) && (node->holder || node->to != INS_NOBODY);
}

static bool is_among(const size_t at[], unsigned count, size_t i)
{
	unsigned k;

	for (k = 0; k < count && at[k] != i; k++)
		;
	return k < count;
}

/* Add what waiter i waits for, its holder's stack, what that one waits for, and so on. */
static int follow(struct looking *l, const struct ins_graph *graph, size_t i,
		  ins_profile_part parts[INS_PROFILE_PARTS], unsigned *count)
{
	size_t passed[CHAIN];
	unsigned links;
	int rc = 0;

	for (links = 0; rc == 0 && i != INS_NOBODY && waits_behind(graph, i); links++) {
		const struct seen *holder;

		if (links == CHAIN)
			return ins_profile_text(l->p->profile, "[...]", &parts[(*count)++]);
		passed[links] = i;
		rc = link_of(l, graph, i, &parts[(*count)++]);
		i = ins_graph_at(graph, i)->to;
		if (rc == 0 && i != INS_NOBODY && is_among(passed, links + 1, i))
			return ins_profile_text(l->p->profile, "[deadlock]", &parts[(*count)++]);
		holder = i == INS_NOBODY ? NULL
					 : find(l->now, l->now_count, ins_graph_at(graph, i)->id);
		if (holder && holder->part != NONE)
			parts[(*count)++] = holder->part;
	}
	return rc;
}

static int add_behind(struct looking *l, const struct ins_graph *graph, size_t i, int64_t time)
{
	const struct seen *seen = find(l->now, l->now_count, ins_graph_at(graph, i)->id);
	ins_profile_part parts[INS_PROFILE_PARTS];
	unsigned count = 1;
	int rc;

	if (!seen || seen->part == NONE || !waits_behind(graph, i))
		return 0;
	parts[0] = seen->part;
	rc = follow(l, graph, i, parts, &count);
	return rc < 0 ? rc
		      : ins_profile_add(l->p->profile, parts, count, is_new(l, seen),
					(uint64_t)time);
}

static int add_all_behind(struct looking *l, int64_t time)
{
	struct ins_graph *graph;
	size_t i;
	int rc = ins_graph_new(l->table, &graph);

	for (i = 0; rc == 0 && i < ins_graph_count(graph); i++)
		rc = add_behind(l, graph, i, time);
	if (rc == 0)
		ins_graph_free(graph);
	return rc;
}

/* -- looks -- */

static int add_all(struct looking *l, int64_t time)
{
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < l->now_count; i++)
		if (l->now[i].part != NONE)
			rc = ins_profile_add(l->p->profile, &l->now[i].part, 1,
					     is_new(l, &l->now[i]), (uint64_t)time);
	return rc;
}

static void swap(struct looking *l)
{
	struct seen *const at = l->before;
	const size_t room = l->before_room;

	l->before = l->now;
	l->before_count = l->now_count;
	l->before_room = l->now_room;
	l->now = at;
	l->now_room = room;
	l->now_count = 0;
}

/* time: ns since the look before. */
static int look(struct looking *l, int64_t time, struct ins_error *error)
{
	const struct ins_request request = {.stacks = true, .reads = l->p->block};
	struct ins_summary summary;
	int rc = l->p->block ? ins_table_new(&l->table) : 0;

	if (rc == 0)
		rc = ins_source_read(l->p->source, &request, take, l, &summary, error);
	if (rc == 0 && l->now_count)
		qsort(l->now, l->now_count, sizeof *l->now, by_id);
	if (rc == 0)
		rc = l->table ? add_all_behind(l, time) : add_all(l, time);
	ins_table_free(l->table);
	l->table = NULL;
	/* A fiber that ran during the copy has no stack in this look; it may have one in the next. */
	ins_problems_free(&l->p->source->problems);
	l->p->source->problems = (struct ins_problems){.count = 0};
	swap(l);
	return rc;
}

/* A random time around `mean`, from half of it to one and a half. */
static int64_t around(struct looking *l, int64_t mean)
{
	uint64_t r = l->rand;

	r ^= r << 13;
	r ^= r >> 7;
	r ^= r << 17;
	l->rand = r;
	return mean / 2 + (int64_t)(r % (uint64_t)mean);
}

/*
 * When to look next. The looks so far took p->looking; the first one, which also reads the unwind
 * tables of the program's files, does not count.
 */
static int64_t next_look(struct looking *l, int64_t began, int64_t at)
{
	const int64_t next = at + around(l, EVERY), least = began + l->p->looking * PART;
	const int64_t end = began + l->p->length;

	return next < least ? (least < end ? least : end) : (next < end ? next : end);
}

static int look_on(struct looking *l, int64_t began, struct ins_error *error)
{
	struct ctl_profile *p = l->p;
	int64_t at = began, before = began;
	bool more = true;
	int rc;

	for (;;) {
		rc = look(l, at - before, error);
		if (rc < 0)
			return rc;
		p->begun = true;
		p->took = at - began;
		if (p->looks++)
			p->looking += ins_duration_now() - at;
		if (!more || at >= began + p->length)
			return 0;
		before = at;
		more = ctl_interrupt_sleep(next_look(l, began, at));
		at = ins_duration_now();
	}
}

int ctl_profile_waits(struct ctl_profile *p, struct ins_error *error)
{
	const int64_t began = ins_duration_now();
	struct looking l = {.p = p, .rand = (uint64_t)began | 1};
	int rc = look_on(&l, began, error);

	free(l.now);
	free(l.before);
	if (rc == -ENOMEM || !p->begun)
		return rc;
	if (rc < 0)
		ins_problems_add(&p->problems, "only of the first %lld ms: %s",
				 (long long)(p->took / 1000000), error->text);
	return 0;
}
