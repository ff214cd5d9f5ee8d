/* SPDX-License-Identifier: MIT */
/*
 * entries.c - sort calls, and rank them by guesses
 *
 * Any rank gives the right answer. A good one finds an order of the calls sooner, if there is one.
 *
 * Many objects hand out what was put into them: a queue, a stack, a channel, a map. There the
 * argument of one call is the result of a later one, and the time of the result tells in which order
 * the arguments went in: first in, first out, or first in, last out. An operation with such a call
 * is a source. A call of a source whose argument is never a result has the time "never". A call that
 * must come before others has at most their time, or it would hold them up.
 */
#include "history/entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NEVER UINT64_MAX

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_begin(const void *left, const void *right)
{
	const struct fib_entry *a = left, *b = right;
	int c = compare(!a->call.end, !b->call.end);

	if (!c)
		c = compare(a->call.begin, b->call.begin);
	if (!c)
		c = compare(a->call.end, b->call.end);
	return c ? c : compare(a->index, b->index);
}

/* -- times of results -- */

struct value {
	int64_t key, result;
	uint64_t end;
};

static int by_value(const void *left, const void *right)
{
	const struct value *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (a->result != b->result)
		return a->result < b->result ? -1 : 1;
	return compare(a->end, b->end);
}

/* The first end, not before the call's begin, of a call with its argument as a result. */
static uint64_t time_of(const struct fiber_test_call *call, const struct value *values, size_t n)
{
	const struct value wanted = {call->key, call->arg, call->begin};
	size_t low = 0, high = n;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (by_value(&values[mid], &wanted) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == n || values[low].key != call->key || values[low].result != call->arg)
		return NEVER;
	return values[low].end;
}

/* Whether an operation is a source; a set of operation numbers, in a table by their low bits. */
#define OPS 64u

struct timing {
	uint64_t *time; /* of entry i */
	bool source[OPS];
};

static bool is_source(const struct timing *t, const struct fib_entry *e)
{
	return t->source[e->call.op % OPS];
}

static void find_times(const struct fib_entries *s, struct timing *t, struct value *values)
{
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < s->returned; i++)
		values[n++] =
			(struct value){s->at[i].call.key, s->at[i].call.result, s->at[i].call.end};
	qsort(values, n, sizeof *values, by_value);
	for (i = 0; i < s->n; i++) {
		t->time[i] = time_of(&s->at[i].call, values, n);
		/* A call that returns its own argument tells nothing. */
		if (t->time[i] == s->at[i].call.end && s->at[i].call.result == s->at[i].call.arg)
			t->time[i] = NEVER;
		if (t->time[i] != NEVER)
			t->source[s->at[i].call.op % OPS] = true;
	}
}

/* A call has at most the time of the calls of sources that begin after its end. */
static void hurry(const struct fib_entries *s, struct timing *t, uint64_t *least)
{
	uint32_t i, low, high;

	least[s->returned] = NEVER;
	for (i = s->returned; i-- > 0;) {
		for (low = i + 1, high = s->returned; low < high;) {
			const uint32_t mid = low + (high - low) / 2;

			if (s->at[mid].call.begin <= s->at[i].call.end)
				low = mid + 1;
			else
				high = mid;
		}
		if (t->time[i] > least[low])
			t->time[i] = least[low];
		least[i] = least[i + 1];
		if (is_source(t, &s->at[i]) && t->time[i] < least[i])
			least[i] = t->time[i];
	}
}

/* -- ranks -- */

struct ranked {
	bool pending, source;
	uint64_t time, end, begin;
	uint32_t entry;
};

static int by_end(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;
	int c = compare(a->pending, b->pending);

	if (!c)
		c = compare(a->end, b->end);
	if (!c)
		c = compare(a->begin, b->begin);
	return c ? c : compare(a->entry, b->entry);
}

static int by_time(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;
	int c = compare(a->pending && a->time == NEVER, b->pending && b->time == NEVER);

	if (!c)
		c = compare(a->source, b->source);
	if (!c && a->source)
		c = compare(a->time, b->time);
	return c ? c : by_end(a, b);
}

static int by_time_backwards(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;
	int c = compare(a->pending && a->time == NEVER, b->pending && b->time == NEVER);

	if (!c)
		c = compare(a->source, b->source);
	if (!c && a->source)
		c = compare(b->time, a->time);
	return c ? c : by_end(a, b);
}

static void rank(const struct fib_entries *s, const struct timing *t, struct ranked *list,
		 enum fib_rank which, int (*order)(const void *, const void *))
{
	uint32_t i;

	for (i = 0; i < s->n; i++)
		list[i] = (struct ranked){!s->at[i].call.end, is_source(t, &s->at[i]), t->time[i],
					  s->at[i].call.end,  s->at[i].call.begin,     i};
	qsort(list, s->n, sizeof *list, order);
	for (i = 0; i < s->n; i++)
		s->at[list[i].entry].rank[which] = i;
}

static int rank_all(const struct fib_entries *s)
{
	struct timing t = {.time = calloc(s->n + 1, sizeof *t.time)};
	struct value *values = calloc(s->n + 1, sizeof *values);
	struct ranked *list = calloc(s->n + 1, sizeof *list);
	uint64_t *least = calloc(s->n + 1, sizeof *least);
	int rc = -ENOMEM;

	if (t.time && values && list && least) {
		find_times(s, &t, values);
		rank(s, &t, list, FIB_RANK_END, by_end);
		rank(s, &t, list, FIB_RANK_FIRST_OUT, by_time_backwards);
		hurry(s, &t, least);
		rank(s, &t, list, FIB_RANK_FIRST_IN, by_time);
		rc = 0;
	}
	free(t.time);
	free(values);
	free(list);
	free(least);
	return rc;
}

/* -- pending calls that are alike -- */

static bool alike(const struct fiber_test_call *a, const struct fiber_test_call *b)
{
	return a->op == b->op && a->key == b->key && a->arg == b->arg && a->result == b->result;
}

/* A twin that is not found costs time only. */
#define LOOK_BACK 1000u

static void find_twins(struct fib_entries *s)
{
	uint32_t i, k;

	for (i = s->returned; i < s->n; i++) {
		s->at[i].twin = UINT32_MAX;
		for (k = i; k-- > s->returned && i - k <= LOOK_BACK && s->at[i].twin == UINT32_MAX;)
			if (alike(&s->at[i].call, &s->at[k].call))
				s->at[i].twin = k;
	}
}

int fib_entries_make(const struct fiber_test_call calls[], const uint32_t which[], uint32_t n,
		     struct fib_entries *ret)
{
	uint32_t i;

	*ret = (struct fib_entries){calloc(n + 1, sizeof *ret->at), n, 0};
	if (!ret->at)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		ret->at[i] = (struct fib_entry){.call = calls[which[i]], .index = which[i]};
		ret->returned += calls[which[i]].end != 0;
	}
	qsort(ret->at, n, sizeof *ret->at, by_begin);
	find_twins(ret);
	if (rank_all(ret) == 0)
		return 0;
	fib_entries_free(ret);
	return -ENOMEM;
}

void fib_entries_free(struct fib_entries *entries)
{
	free(entries->at);
	entries->at = NULL;
}
