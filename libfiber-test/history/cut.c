/* SPDX-License-Identifier: MIT */
/*
 * cut.c - keep of a bad history the calls that matter
 *
 * Three steps:
 *   - Keys other than the bad one go.
 *   - Time is cut after the first return with which the history is bad. What is bad stays bad when
 *     more calls follow, so that return is found by bisection. Its call is the last one.
 *   - Sets of other calls are left out as long as the rest is bad in the same way (Zeller and
 *     Hildebrandt's delta debugging, IEEE TSE 2002).
 *
 * In the last step "is bad" is not enough: a queue from which 2 was taken is bad without the call
 * that put 2 in, but that is not what was found. Calls may go only if
 *   1. the rest without its last call is explained as before. Before the last return there was an
 *      order; that order, without the calls that go, must still be one. So a call that put something
 *      in goes only together with the one that took it out. As long as possible, calls go only if
 *      they leave the same state behind, so that the one that took something out goes with the one
 *      that put it in;
 *   2. the rest can be explained if real time is ignored, as the whole can. So what the last call
 *      returned stays possible, at another time. If the whole cannot be explained in this way
 *      either, calls that have the result of the last one as argument or result stay;
 *   3. no order explains the rest.
 * A search that reaches its limits counts as "no". So the cut may be longer than it could be, but
 * every set of calls that it shows is bad.
 */
#include "history/cut.h"

#include <stdlib.h>
#include <string.h>

#include "history/linearizable.h"
#include "history/model.h"

#define TRIES_MAX   300u  /* searches for rule 3 */
#define REPLAYS_MAX 5000u /* of the order, for rule 1 */

struct cut {
	const struct fiber_test_model *model;
	struct fiber_test_call *calls, *some; /* some: room for n */
	uint32_t *fibers, *order, *scratch;
	bool *gone;
	unsigned char *state, *end; /* end: the state after the order */
	bool neutral;		    /* the state after the order stays */
	uint32_t n, last, used;	    /* order[0..used): before the last call returned */
	bool any_time;		    /* explained if real time is ignored */
	unsigned tries, replays;
	void (*alive)(void);
};

/* 1, 0 or an error for the n calls in c->some. */
static int ask(struct cut *c, uint32_t n, const struct fib_search_limit *limit, uint32_t *ret_used)
{
	int64_t key;

	c->alive();
	return fib_linearizable(c->model, c->some, n, limit, c->scratch, ret_used, &key);
}

/* -- keys and time -- */

static void keep(struct cut *c, uint32_t from, uint32_t to)
{
	c->calls[to] = c->calls[from];
	c->fibers[to] = c->fibers[from];
}

static void cut_keys(struct cut *c, int64_t key)
{
	uint32_t i, n = 0;

	for (i = 0; i < c->n; i++)
		if (!c->model->by_key || c->calls[i].key == key)
			keep(c, i, n++);
	c->n = n;
}

/* Write what is known of a call at a time. Returns false if it has not begun. */
static bool at_time(const struct fiber_test_call *call, uint64_t time, struct fiber_test_call *ret)
{
	*ret = *call;
	if (call->end > time)
		ret->end = 0;
	if (!ret->end)
		ret->result = 0;
	return call->begin <= time;
}

static bool bad_until(struct cut *c, uint64_t time)
{
	uint32_t i, n = 0, used;

	for (i = 0; i < c->n; i++)
		n += at_time(&c->calls[i], time, &c->some[n]);
	return ask(c, n, &fib_search_whole, &used) == 0;
}

static int by_time(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static void cut_time(struct cut *c, uint64_t *ends)
{
	uint32_t i, n = 0, low = 0, high;
	uint64_t end;

	for (i = 0; i < c->n; i++)
		if (c->calls[i].end)
			ends[n++] = c->calls[i].end;
	qsort(ends, n, sizeof *ends, by_time);
	for (high = n - 1; low < high;) {
		const uint32_t mid = low + (high - low) / 2;

		if (bad_until(c, ends[mid]))
			high = mid;
		else
			low = mid + 1;
	}
	end = ends[high];
	for (i = n = 0; i < c->n; i++) {
		struct fiber_test_call call;

		if (!at_time(&c->calls[i], end, &call))
			continue;
		c->calls[i] = call;
		keep(c, i, n);
		if (call.end == end)
			c->last = n;
		n++;
	}
	c->n = n;
}

/* -- calls -- */

/* Copy the calls that stay to c->some; the last one as given. Returns their number. */
static uint32_t rest(struct cut *c, const struct fiber_test_call *last)
{
	uint32_t i, n = 0;

	for (i = 0; i < c->n; i++)
		if (!c->gone[i])
			c->some[n++] = i == c->last ? *last : c->calls[i];
	return n;
}

/* The last call before it returned. */
static struct fiber_test_call open_last(const struct cut *c)
{
	struct fiber_test_call call = c->calls[c->last];

	call.end = 0;
	call.result = 0;
	return call;
}

static bool explained_at_any_time(struct cut *c)
{
	const uint32_t n = rest(c, &c->calls[c->last]);
	uint32_t i, used;

	for (i = 0; i < n; i++) {
		c->some[i].begin = 1;
		c->some[i].end = c->some[i].end ? 2 : 0;
	}
	return ask(c, n, &fib_search_try, &used) == 1;
}

/* Rule 1. */
static bool still_an_order(struct cut *c)
{
	const struct fiber_test_call last = open_last(c);
	uint32_t i;

	if (c->replays++ >= REPLAYS_MAX)
		return false;
	fib_model_init(c->model, c->state);
	for (i = 0; i < c->used; i++) {
		const uint32_t at = c->order[i];

		if (!c->gone[at] &&
		    !c->model->step(c->state, at == c->last ? &last : &c->calls[at]))
			return false;
	}
	return !c->neutral || memcmp(c->state, c->end, c->model->state_size) == 0;
}

/* Rule 2. */
static bool still_possible(struct cut *c)
{
	const int64_t result = c->calls[c->last].result;
	uint32_t i;

	if (c->any_time)
		return explained_at_any_time(c);
	for (i = 0; i < c->n; i++)
		if (c->gone[i] && (c->calls[i].arg == result ||
				   (c->calls[i].end && c->calls[i].result == result)))
			return false;
	return true;
}

/* Rule 3. */
static bool still_bad(struct cut *c)
{
	const uint32_t n = rest(c, &c->calls[c->last]);
	uint32_t used;

	if (c->tries++ >= TRIES_MAX)
		return false;
	return ask(c, n, &fib_search_try, &used) == 0;
}

static bool may_go(struct cut *c)
{
	return still_an_order(c) && still_possible(c) && still_bad(c);
}

/* Leave out calls[from..to) if that is allowed. Returns whether any went. */
static bool leave_out(struct cut *c, uint32_t from, uint32_t to)
{
	bool *const before = malloc(c->n);
	bool any = false, allowed = false;
	uint32_t i;

	if (!before)
		return false;
	memcpy(before, c->gone, c->n);
	for (i = from; i < to && i < c->n; i++) {
		any |= !c->gone[i] && i != c->last;
		c->gone[i] |= i != c->last;
	}
	if (any)
		allowed = may_go(c);
	if (!allowed)
		memcpy(c->gone, before, c->n);
	free(before);
	return allowed;
}

/* Two calls that are not neighbours may have to go together, such as a put and its take. */
static bool leave_out_pair(struct cut *c, uint32_t a, uint32_t b)
{
	if (c->gone[a] || c->gone[b] || a == c->last || b == c->last)
		return false;
	c->gone[a] = c->gone[b] = true;
	if (may_go(c))
		return true;
	c->gone[a] = c->gone[b] = false;
	return false;
}

static bool shares_a_value(const struct fiber_test_call *a, const struct fiber_test_call *b)
{
	return a->arg == b->result || b->arg == a->result;
}

static bool cut_pieces(struct cut *c)
{
	uint32_t piece, from, i, k;
	bool any = false;

	for (piece = (c->n + 1) / 2; piece; piece /= 2)
		for (from = 0; from < c->n; from += piece)
			any |= leave_out(c, from, from + piece);
	for (i = 0; i < c->n; i++)
		for (k = i + 1; k < c->n && c->replays < REPLAYS_MAX; k++)
			if (shares_a_value(&c->calls[i], &c->calls[k]))
				any |= leave_out_pair(c, i, k);
	return any;
}

static void cut_calls(struct cut *c)
{
	const struct fiber_test_call last = open_last(c);
	uint32_t i, n;
	const uint32_t all = rest(c, &last);

	if (ask(c, all, &fib_search_whole, &c->used) != 1)
		return;
	memcpy(c->order, c->scratch, c->n * sizeof *c->order);
	c->any_time = explained_at_any_time(c);
	if (!still_an_order(c))
		return;
	memcpy(c->end, c->state, c->model->state_size);
	c->neutral = true;
	while (cut_pieces(c))
		;
	c->neutral = false;
	while (cut_pieces(c))
		;
	for (i = n = 0; i < c->n; i++) {
		if (c->gone[i])
			continue;
		keep(c, i, n);
		if (i == c->last)
			c->last = n;
		n++;
	}
	c->n = n;
}

uint32_t fib_cut(const struct fiber_test_model *model, struct fiber_test_call calls[],
		 uint32_t fibers[], uint32_t n, int64_t key, void (*alive)(void),
		 uint32_t *ret_last)
{
	struct cut c = {.model = model, .calls = calls, .fibers = fibers, .n = n, .alive = alive};
	uint64_t *ends = calloc(n + 1, sizeof *ends);

	c.some = calloc(n + 1, sizeof *c.some);
	c.order = calloc(n + 1, sizeof *c.order);
	c.scratch = calloc(n + 1, sizeof *c.scratch);
	c.gone = calloc(n + 1, sizeof *c.gone);
	c.state = calloc(1, model->state_size + 1);
	c.end = calloc(1, model->state_size + 1);
	*ret_last = UINT32_MAX;
	if (ends && c.some && c.order && c.scratch && c.gone && c.state && c.end) {
		cut_keys(&c, key);
		cut_time(&c, ends);
		cut_calls(&c);
		*ret_last = c.last;
	}
	free(ends);
	free(c.some);
	free(c.order);
	free(c.scratch);
	free(c.gone);
	free(c.state);
	free(c.end);
	return c.n;
}
