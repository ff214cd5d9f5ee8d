/* SPDX-License-Identifier: MIT */
/*
 * linearizable.c - find an order of a whole history
 *
 * If calls of different keys do not touch each other, the keys are objects of their own, and
 * linearizability is local: a history is linearizable if and only if the part of each object is
 * (Herlihy and Wing, "Linearizability: A Correctness Condition for Concurrent Objects", TOPLAS
 * 1990). So each key is searched by itself, which takes the sum of the times instead of the product.
 *
 * The orders of the keys are merged as follows. Let m(c) be the latest begin of c and the calls
 * before c in the order of its key. Sort by m; calls with the same m of one key keep their order.
 *   - Within a key m never decreases, so the order of the key stays.
 *   - If a returned before b began, a comes before b. The begin that m(a) stands for is of a or of a
 *     call before a; a does not precede that call in real time, so m(a) <= end(a). Hence
 *     m(a) <= end(a) < begin(b) <= m(b).
 * Calls that have not happened come last.
 */
#include "history/linearizable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "history/model.h"

struct merged {
	uint64_t latest; /* m(c) */
	uint32_t place;	 /* in the orders of all keys, one after another */
	uint32_t call;
};

struct keyed {
	int64_t key;
	uint32_t call;
};

static int by_key(const void *left, const void *right)
{
	const struct keyed *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->call < b->call ? -1 : a->call > b->call;
}

static int by_latest(const void *left, const void *right)
{
	const struct merged *a = left, *b = right;

	if (a->latest != b->latest)
		return a->latest < b->latest ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

/* The calls in `order`, of one key, behind the `n` that are merged; those it leaves out are last. */
static void merge(const struct fiber_test_call calls[], const uint32_t order[], uint32_t count,
		  uint32_t used, struct merged *ret, uint32_t n)
{
	uint64_t latest = 0;
	uint32_t i;

	for (i = 0; i < count; i++) {
		if (calls[order[i]].begin > latest)
			latest = calls[order[i]].begin;
		ret[n + i] = (struct merged){i < used ? latest : UINT64_MAX, n + i, order[i]};
	}
}

struct parts {
	struct keyed *keyed;
	struct merged *merged;
	uint32_t *which, *order;
};

static int search_parts(const struct fiber_test_model *model, const struct fiber_test_call calls[],
			uint32_t n, const struct fib_search_limit *limit, struct parts *p,
			uint32_t *ret_used, int64_t *ret_key)
{
	uint32_t from, to, i, used;
	int rc;

	*ret_used = 0;
	for (from = 0; from < n; from = to) {
		for (to = from; to < n && p->keyed[to].key == p->keyed[from].key; to++)
			;
		for (i = from; i < to; i++)
			p->which[i - from] = p->keyed[i].call;
		rc = fib_search(model, calls, p->which, to - from, limit, p->order, &used);
		*ret_key = p->keyed[from].key;
		if (rc != 1)
			return rc;
		merge(calls, p->order, to - from, used, p->merged, from);
		*ret_used += used;
	}
	return 1;
}

int fib_linearizable(const struct fiber_test_model *model, const struct fiber_test_call calls[],
		     size_t n, const struct fib_search_limit *limit, uint32_t *ret_order,
		     uint32_t *ret_used, int64_t *ret_key)
{
	struct parts p = {calloc(n + 1, sizeof *p.keyed), calloc(n + 1, sizeof *p.merged),
			  calloc(n + 1, sizeof *p.which), calloc(n + 1, sizeof *p.order)};
	int rc = -ENOMEM;
	size_t i;

	if (p.keyed && p.merged && p.which && p.order) {
		for (i = 0; i < n; i++)
			p.keyed[i] = (struct keyed){model->by_key ? calls[i].key : 0, (uint32_t)i};
		qsort(p.keyed, n, sizeof *p.keyed, by_key);
		rc = search_parts(model, calls, (uint32_t)n, limit, &p, ret_used, ret_key);
		if (rc == 1) {
			/* The order of a single key needs no merging. */
			if (model->by_key)
				qsort(p.merged, n, sizeof *p.merged, by_latest);
			for (i = 0; i < n; i++)
				ret_order[i] = p.merged[i].call;
		}
	}
	free(p.keyed);
	free(p.merged);
	free(p.which);
	free(p.order);
	return rc;
}

int fiber_test_linearizable(const struct fiber_test_model *model,
			    const struct fiber_test_call calls[], size_t n, uint32_t *ret_order)
{
	struct fiber_test_model m;
	uint32_t *order, used;
	int64_t key;
	int rc;

	if (fib_model_check(model, &m) || !fib_calls_check(calls, n))
		return -EINVAL;
	order = calloc(n + 1, sizeof *order);
	if (!order)
		return -ENOMEM;
	rc = fib_linearizable(&m, calls, n, &fib_search_whole, order, &used, &key);
	if (rc == 1 && ret_order && n)
		memcpy(ret_order, order, n * sizeof *order);
	free(order);
	return rc;
}
