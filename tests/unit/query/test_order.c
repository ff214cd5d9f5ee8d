/* SPDX-License-Identifier: MIT */
/* test_order.c - the first n of an order are those that sorting all fibers gives */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/dice.h"
#include "tests/harness/inspect/head.h"
#include "inspect/query/order.h"
#include "tests/harness/inspect/rows.h"

#define MOST 1500

static struct fib_layout layout;
static struct ins_fiber fibers[MOST];

/* The order, in globals because qsort() passes no context. */
static struct ins_field field;
static bool backwards;

/* Get the expected value from the row: a number or a name. False: no value. */
static bool number_of(const struct ins_fiber *f, uint64_t *ret)
{
	if (strcmp(field.info->name, "holder") == 0)
		return (*ret = f->row.holder) != 0;
	*ret = strcmp(field.info->name, "age") == 0 ? (uint64_t)f->row.age : f->row.id;
	return true;
}

static int compare(const struct ins_fiber *x, const struct ins_fiber *y)
{
	uint64_t m = 0, n = 0;
	bool has_x, has_y;
	int c;

	if (strcmp(field.info->name, "name") == 0) {
		has_x = x->row.name[0];
		has_y = y->row.name[0];
		c = strcmp(x->row.name, y->row.name);
	} else {
		has_x = number_of(x, &m);
		has_y = number_of(y, &n);
		c = m < n ? -1 : m > n;
	}
	if (!has_x || !has_y)
		return has_y - has_x;
	return backwards ? -c : c;
}

static int by_hand(const void *a, const void *b)
{
	const struct ins_fiber *x = *(struct ins_fiber *const *)a;
	const struct ins_fiber *y = *(struct ins_fiber *const *)b;
	int c = compare(x, y);

	return c ? c : x < y ? -1 : x > y;
}

struct taken {
	uint64_t id[MOST];
	size_t count;
	size_t end; /* stop after this many; 0: never */
};

static int take(void *context, const struct ins_fiber *fiber)
{
	struct taken *t = context;

	assert_null(fiber->stack);
	assert_int_equal(fiber->stack_size, 0);
	t->id[t->count++] = fiber->row.id;
	return t->end == t->count ? -4711 : 0;
}

static void agree(const char *name, bool back, size_t count, size_t limit)
{
	static struct taken taken;
	const struct ins_fiber *sorted[MOST] = {NULL};
	struct ins_order *order;
	size_t i;

	assert_true(ins_field_find(name, strlen(name), &field));
	backwards = back;
	assert_int_equal(ins_order_new(&field, back, limit, &order), 0);
	for (i = 0; i < count; i++) {
		/* It is freed after the call, so that a kept pointer is detected. */
		struct ins_fiber *passing = malloc(sizeof *passing);
		struct ins_sight sight = {.layout = &layout, .fiber = passing};

		*passing = fibers[i];
		passing->stack = (const unsigned char *)passing;
		passing->stack_size = 8;
		assert_int_equal(ins_order_add(order, &sight), 0);
		memset(passing, 0xee, sizeof *passing);
		free(passing);
		memset(&sight, 0xee, sizeof sight);
		sorted[i] = &fibers[i];
	}
	qsort(sorted, count, sizeof sorted[0], by_hand);
	taken.count = taken.end = 0;
	assert_int_equal(ins_order_each(order, take, &taken), 0);
	assert_int_equal(taken.count, limit && limit < count ? limit : count);
	for (i = 0; i < taken.count; i++)
		assert_int_equal(taken.id[i], sorted[i]->row.id);
	ins_order_free(order);
}

static void test_order_is_what_sorting_gives(void **state)
{
	static const char *const names[] = {"id", "age", "holder", "name"};
	static const size_t limits[] = {0,   1,	  2,   63,   64,       65,	  127,
					128, 129, 200, MOST, 2 * MOST, UINT32_MAX};
	static const size_t counts[] = {0, 1, 64, 65, 128, 129, 257, MOST};

	(void)state;
	for (size_t n = 0; n < sizeof names / sizeof names[0]; n++)
		for (size_t l = 0; l < sizeof limits / sizeof limits[0]; l++)
			for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
				agree(names[n], false, counts[c], limits[l]);
				agree(names[n], true, counts[c], limits[l]);
			}
}

static void test_order_ends_with_what_the_callback_returns(void **state)
{
	static struct taken taken = {.end = 3};
	struct ins_order *order;

	(void)state;
	assert_true(ins_field_find("id", 2, &field));
	assert_int_equal(ins_order_new(&field, true, 10, &order), 0);
	for (size_t i = 0; i < 100; i++) {
		struct ins_sight sight = {.layout = &layout, .fiber = &fibers[i]};

		assert_int_equal(ins_order_add(order, &sight), 0);
	}
	assert_int_equal(ins_order_each(order, take, &taken), -4711);
	assert_int_equal(taken.count, 3);
	ins_order_free(order);
	ins_order_free(NULL);
}

/* Ids are unique, the other fields have equal values. */
static int start(void **state)
{
	uint64_t seed = 12345;

	(void)state;
	rows_layout(&layout);
	for (size_t i = 0; i < MOST; i++) {
		fibers[i] = rows_fiber(1 + (i * 7919) % 104729, "");
		fibers[i].row.age = dice(&seed, 50);
		fibers[i].row.holder = dice(&seed, 3) ? 0 : dice(&seed, 20);
		if (dice(&seed, 8) == 0)
			fibers[i].row.holder |= FIB_HOLDER_THREAD;
		if (dice(&seed, 5))
			snprintf(fibers[i].row.name, sizeof fibers[i].row.name, "n\xff%u",
				 dice(&seed, 40));
	}
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_is_what_sorting_gives),
		cmocka_unit_test(test_order_ends_with_what_the_callback_returns),
	};

	return HEAD_RUN(tests, start, NULL);
}
