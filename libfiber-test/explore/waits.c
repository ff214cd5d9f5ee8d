/* SPDX-License-Identifier: MIT */
/* waits.c - find the deadlocks among the fibers that wait */
#include "explore/waits.h"

#include <stdlib.h>
#include <string.h>

#include <fiber/time.h>

#include "base/check.h"
#include "net/inside.h"
#include "sched/gather.h"

static int by_id(const void *a, const void *b)
{
	const struct fiber_info *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static bool counts(const struct fiber_info *info, uint64_t first)
{
	return info->state != FIBER_DEAD && info->state != FIBER_CREATED && info->id >= first;
}

static void read_all(struct fiber_runtime *rt, uint64_t first, struct fib_waits *w)
{
	struct fiber_snapshot *snapshot;
	size_t count;

	fib_check(fiber_snapshot(rt, &snapshot) == 0);
	count = fiber_snapshot_count(snapshot);
	w->all = calloc(count + 1, sizeof *w->all);
	w->next = calloc(count + 1, sizeof *w->next);
	w->in = calloc(count + 1, sizeof *w->in);
	w->deadlocks = calloc(count + 1, sizeof *w->deadlocks);
	fib_check(w->all && w->next && w->in && w->deadlocks);
	while (w->n < count && fiber_snapshot_next(snapshot, &w->all[w->n]))
		w->n += counts(&w->all[w->n], first);
	fiber_snapshot_free(snapshot);
	qsort(w->all, w->n, sizeof *w->all, by_id);
}

/* The id of the fiber that it waits for; 0: none in particular. */
static uint64_t wanted(const struct fiber_info *info)
{
	return info->holder_id ? info->holder_id : info->target_id;
}

static int index_of(const struct fib_waits *w, uint64_t id)
{
	size_t i;

	for (i = 0; id && i < w->n; i++)
		if (w->all[i].id == id)
			return (int)i;
	return -1;
}

/* The length of the cycle that contains i; 0: none does. */
static unsigned cycle_at(const struct fib_waits *w, size_t i)
{
	unsigned length = 0;
	int at = (int)i;

	do {
		at = w->next[at];
		length++;
	} while (at >= 0 && at != (int)i && length <= w->n);
	return at == (int)i ? length : 0;
}

static void add_cycle(struct fib_waits *w, size_t first, unsigned count)
{
	size_t at = first;
	unsigned i;

	for (i = 0; i < count; i++) {
		w->in[at] = (int)w->count;
		at = (size_t)w->next[at];
	}
	w->deadlocks[w->count++] = (struct fib_deadlock){
		count == 1 ? FIB_DEADLOCK_SELF : FIB_DEADLOCK_CYCLE, count, 0, first};
}

/* A lock whose holder is not among the fibers: it has exited. */
static void add_ended(struct fib_waits *w, size_t i)
{
	size_t k;

	for (k = 0; k < w->count; k++)
		if (w->deadlocks[k].kind == FIB_DEADLOCK_ENDED &&
		    w->all[w->deadlocks[k].first].wait_object == w->all[i].wait_object)
			break;
	if (k == w->count)
		w->deadlocks[w->count++] = (struct fib_deadlock){FIB_DEADLOCK_ENDED, 0, 0, i};
	w->deadlocks[k].count++;
	w->in[i] = (int)k;
}

/* Whether the wait can end by itself, or by what is no fiber. */
static bool may_end(const struct fiber_info *info)
{
	const char *kind = info->wait_kind;

	if (info->state != FIBER_SUSPENDED || info->deadline != FIBER_FOREVER)
		return true;
	if (strcmp(kind, "fd") == 0)
		return info->fd < 0 || !fib_inside_has(info->fd) || !fib_inside_alone();
	return strcmp(kind, "offload") == 0 || strcmp(kind, "op") == 0 ||
	       strcmp(kind, "pinned") == 0;
}

static bool is_stuck(const struct fib_waits *w)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		if (may_end(&w->all[i]))
			return false;
	return w->n > 0 && fib_gather_nearest() == INT64_MAX;
}

static bool descends(const struct fib_waits *w, size_t i, size_t from)
{
	int at = (int)i;
	size_t steps;

	for (steps = 0; at >= 0 && steps < w->n; steps++) {
		at = index_of(w, w->all[at].parent_id);
		if (at == (int)from)
			return true;
	}
	return false;
}

/* Fibers that join an ancestor, which waits for its descendants. */
static void add_ancestors(struct fib_waits *w)
{
	size_t i, to;

	for (i = 0; i < w->n && w->stuck; i++) {
		if (w->in[i] >= 0 || !w->all[i].target_id || w->next[i] < 0)
			continue;
		to = (size_t)w->next[i];
		if (!descends(w, i, to) || (strcmp(w->all[to].wait_kind, "group") != 0 &&
					    strcmp(w->all[to].wait_kind, "waitgroup") != 0))
			continue;
		w->in[i] = (int)w->count;
		if (w->in[to] < 0)
			w->in[to] = (int)w->count;
		w->deadlocks[w->count++] = (struct fib_deadlock){FIB_DEADLOCK_ANCESTOR, 2, 0, i};
	}
}

static void count_behind(struct fib_waits *w)
{
	size_t i, length;
	int at;

	for (i = 0; i < w->n; i++) {
		at = w->in[i] < 0 ? w->next[i] : -1;
		for (length = 0; at >= 0 && w->in[at] < 0 && length < w->n; length++)
			at = w->next[at];
		if (at >= 0 && w->in[at] >= 0)
			w->deadlocks[w->in[at]].behind++;
	}
}

void fib_waits_read(struct fiber_runtime *rt, uint64_t first, struct fib_waits *ret)
{
	unsigned length;
	size_t i;

	*ret = (struct fib_waits){0};
	read_all(rt, first, ret);
	for (i = 0; i < ret->n; i++) {
		ret->next[i] = index_of(ret, wanted(&ret->all[i]));
		ret->in[i] = -1;
	}
	for (i = 0; i < ret->n; i++) {
		length = ret->in[i] < 0 ? cycle_at(ret, i) : 0;
		if (length)
			add_cycle(ret, i, length);
		else if (ret->in[i] < 0 && ret->all[i].holder_id && ret->next[i] < 0)
			add_ended(ret, i);
	}
	ret->stuck = is_stuck(ret);
	add_ancestors(ret);
	count_behind(ret);
}

void fib_waits_free(struct fib_waits *waits)
{
	free(waits->all);
	free(waits->next);
	free(waits->in);
	free(waits->deadlocks);
}
