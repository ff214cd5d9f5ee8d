/* SPDX-License-Identifier: MIT */
/*
 * order.c - sort fibers by one field, or keep the first few in that order
 *
 * With a limit of N, up to 2N fibers are gathered and sorted; then all but the first N are dropped.
 * The cost is a few comparisons a fiber for any input order, and memory for 2N fibers.
 */
#include "inspect/query/order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 64 /* gathered before a sort, at least */

/* A fiber, its position in the input and its sort value. */
struct entry {
	const struct ins_order *order;
	uint64_t came;
	struct ins_value value;
	struct ins_fiber *fiber; /* owned; the value's text follows it */
};

struct ins_order {
	struct ins_field field;
	bool backwards;
	size_t limit, count, room;
	uint64_t came;
	struct entry *entries;
};

int ins_order_new(const struct ins_field *field, bool backwards, size_t limit,
		  struct ins_order **ret)
{
	*ret = calloc(1, sizeof **ret);
	if (!*ret)
		return -ENOMEM;
	(*ret)->field = *field;
	(*ret)->backwards = backwards;
	(*ret)->limit = limit;
	return 0;
}

static void drop(struct ins_order *order, size_t from)
{
	size_t i;

	for (i = from; i < order->count; i++)
		free(order->entries[i].fiber);
	if (from < order->count)
		order->count = from;
}

void ins_order_free(struct ins_order *order)
{
	if (!order)
		return;
	drop(order, 0);
	free(order->entries);
	free(order);
}

/* A fiber without a value is last, also in backward order. */
static int by_value(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int c = ins_field_compare(&x->order->field, x->value, y->value);

	if (c && x->order->backwards && x->value.known && y->value.known)
		c = -c;
	if (c)
		return c;
	return x->came < y->came ? -1 : x->came > y->came;
}

static void sort(struct ins_order *order)
{
	if (order->count)
		qsort(order->entries, order->count, sizeof *order->entries, by_value);
	if (order->limit)
		drop(order, order->limit);
}

static int make_room(struct ins_order *order)
{
	size_t full = order->limit > LEAST ? 2 * order->limit : 2 * LEAST;
	size_t room = order->room ? 2 * order->room : LEAST;
	struct entry *entries;

	if (order->limit && order->count >= full)
		sort(order);
	if (order->count < order->room)
		return 0;
	entries = realloc(order->entries, room * sizeof *entries);
	if (!entries)
		return -ENOMEM;
	order->entries = entries;
	order->room = room;
	return 0;
}

int ins_order_add(struct ins_order *order, struct ins_sight *sight)
{
	struct ins_value value = ins_field_get(sight, &order->field);
	size_t text = value.known && ins_field_is_text(&order->field) ? strlen(value.text) + 1 : 0;
	struct entry *e;
	int rc = make_room(order);

	if (rc < 0)
		return rc;
	e = &order->entries[order->count];
	e->fiber = malloc(sizeof *e->fiber + text);
	if (!e->fiber)
		return -ENOMEM;
	*e->fiber = *sight->fiber;
	e->fiber->stack = NULL;
	e->fiber->stack_size = 0;
	e->value = value;
	if (text) {
		memcpy(e->fiber + 1, value.text, text);
		e->value.text = (const char *)(e->fiber + 1);
	}
	e->order = order;
	e->came = order->came++;
	order->count++;
	return 0;
}

int ins_order_each(struct ins_order *order, ins_fiber_fn *fn, void *context)
{
	size_t i;
	int rc = 0;

	sort(order);
	for (i = 0; rc == 0 && i < order->count; i++)
		rc = fn(context, order->entries[i].fiber);
	return rc;
}
