/* SPDX-License-Identifier: MIT */
/* test_cut.c - what is left of a history that no order explains, and how it is drawn */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <fiber.h>
#include <fiber/test.h>

#include "history/cut.h"
#include "history/draw.h"

enum { PUT, TAKE };

#define ITEMS 32

struct state {
	int64_t n, value[ITEMS];
};

static bool step(void *state, const struct fiber_test_call *call)
{
	struct state *s = state;
	int64_t value = -1;

	if (call->op == PUT) {
		if (s->n == ITEMS)
			return false;
		s->value[s->n++] = call->arg;
		return true;
	}
	if (s->n) {
		value = s->value[0];
		s->n--;
		memmove(s->value, s->value + 1, sizeof s->value - sizeof *s->value);
	}
	return !call->end || call->result == value;
}

static int print(const struct fiber_test_call *call, char *text, size_t size)
{
	if (call->op == PUT)
		return snprintf(text, size, "put(%d)", (int)call->arg);
	if (!call->end)
		return snprintf(text, size, "take()");
	return snprintf(text, size, "take() = %d", (int)call->result);
}

static const struct fiber_test_model queue = {sizeof queue, sizeof(struct state), NULL, step, print,
					      false};

static unsigned lives;

static void alive(void)
{
	lives++;
}

/* Cut calls of fibers 1, 2, ... and compare the drawing. */
static void expect_cut(const struct fiber_test_model *model, const struct fiber_test_call *given,
		       uint32_t n, int64_t key, const char *drawing)
{
	struct fiber_test_call calls[64];
	uint32_t fibers[64], i, last;
	static char text[FIB_DRAWING];

	memcpy(calls, given, n * sizeof *calls);
	for (i = 0; i < n; i++)
		fibers[i] = i % 2 + 1;
	assert_int_equal(fiber_test_linearizable(model, calls, n, NULL), 0);
	n = fib_cut(model, calls, fibers, n, key, alive, &last);
	assert_int_equal(fiber_test_linearizable(model, calls, n, NULL), 0);
	fib_draw(model, calls, fibers, n, last, text, sizeof text);
	assert_string_equal(text, drawing);
}

static void test_calls_that_put_and_took_other_items_are_left_out(void **state)
{
	static const struct fiber_test_call calls[] = {
		{PUT, 0, 7, 0, 1, 2},	 {TAKE, 0, 0, 7, 3, 4},	  {PUT, 0, 1, 0, 5, 6},
		{PUT, 0, 2, 0, 7, 8},	 {PUT, 0, 3, 0, 9, 10},	  {TAKE, 0, 0, 2, 11, 12},
		{TAKE, 0, 0, 1, 13, 14}, {TAKE, 0, 0, 3, 15, 16},
	};

	(void)state;
	lives = 0;
	/* 2 before 1. Without "put(1)" there would be an order; "put(2)" explains where 2 is from. */
	expect_cut(&queue, calls, 8, 0,
		   "  fiber 1     fiber 2\n"
		   "  put(1)\n"
		   "              put(2)\n"
		   "              take() = 2  <- fits no order\n");
	assert_true(lives > 5);
}

static void test_item_that_was_lost_is_shown(void **state)
{
	static const struct fiber_test_call calls[] = {
		{TAKE, 0, 0, -1, 1, 2}, {PUT, 0, 4, 0, 3, 9},	  {TAKE, 0, 0, 4, 4, 8},
		{PUT, 0, 5, 0, 10, 11}, {TAKE, 0, 0, -1, 12, 14}, {PUT, 0, 6, 0, 13, 15},
	};

	(void)state;
	expect_cut(&queue, calls, 6, 0,
		   "  fiber 1      fiber 2\n"
		   "               put(5)\n"
		   "  take() = -1  <- fits no order\n");
}

static void test_item_taken_twice_keeps_both_takes(void **state)
{
	static const struct fiber_test_call calls[] = {
		{PUT, 0, 9, 0, 1, 2}, {TAKE, 0, 0, 9, 3, 6}, {TAKE, 0, 0, 9, 4, 5},
		{PUT, 0, 8, 0, 7, 8}, {TAKE, 0, 0, 8, 9, 9},
	};

	(void)state;
	expect_cut(&queue, calls, 5, 0,
		   "  fiber 1     fiber 2\n"
		   "  put(9)\n"
		   "              take() = 9\n"
		   "  take() = 9  |\n"
		   "              '  <- fits no order\n");
}

static bool register_step(void *state, const struct fiber_test_call *call)
{
	int64_t *value = state;

	if (call->op == TAKE)
		return !call->end || call->result == *value;
	*value = call->arg;
	return true;
}

static void test_other_keys_are_left_out(void **state)
{
	static const struct fiber_test_model registers = {sizeof registers, 8,	  NULL,
							  register_step,    NULL, true};
	static const struct fiber_test_call calls[] = {
		{PUT, 1, 5, 0, 1, 2},  {PUT, 2, 6, 0, 1, 9},  {TAKE, 1, 0, 5, 3, 4},
		{TAKE, 2, 0, 6, 5, 6}, {PUT, 1, 8, 0, 5, 30}, {TAKE, 2, 0, 0, 10, 11},
	};

	(void)state;
	expect_cut(&registers, calls, 6, 2,
		   "  fiber 2\n"
		   "  op 0 key 2 (6) = 0\n"
		   "  op 1 key 2 (0) = 0  <- fits no order\n");
}

static uint64_t random_state = 1;

static unsigned below(unsigned n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (unsigned)((random_state >> 33) % n);
}

#define CALLS 16

/* Puts of different items and takes of some of them, at random times. */
static void make(struct fiber_test_call calls[])
{
	unsigned i, begin;

	for (i = 0; i < CALLS; i++) {
		begin = 1 + below(60);
		calls[i] = (struct fiber_test_call){.begin = begin, .end = begin + below(12)};
		if (i < CALLS / 2) {
			calls[i].arg = i + 1;
		} else {
			calls[i].op = TAKE;
			calls[i].result = below(6) ? (int64_t)below(CALLS / 2) + 1 : -1;
		}
	}
}

static const struct fiber_test_call *put_of(const struct fiber_test_call calls[], uint32_t n,
					    int64_t item)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (calls[i].op == PUT && calls[i].arg == item)
			return &calls[i];
	return NULL;
}

static void expect_sense(const struct fiber_test_call all[], const struct fiber_test_call calls[],
			 const uint32_t fibers[], uint32_t n, uint32_t last)
{
	uint32_t i;

	assert_true(last < n);
	assert_int_equal(fiber_test_linearizable(&queue, calls, n, NULL), 0);
	for (i = 0; i < n; i++) {
		/* The number of its fiber is its place here. */
		const struct fiber_test_call *was = &all[fibers[i]];
		const struct fiber_test_call *put = put_of(all, CALLS, calls[i].result);

		assert_true(calls[i].op == was->op && calls[i].arg == was->arg &&
			    calls[i].begin == was->begin);
		assert_true(calls[i].begin <= calls[last].end);
		if (was->end > calls[last].end)
			assert_int_equal(calls[i].end, 0);
		else
			assert_int_equal(calls[i].end, was->end);
		/* What a take has was put by a call that is shown, if it was put before at all. */
		if (calls[i].op == TAKE && calls[i].end && put && put->begin <= calls[i].end)
			assert_non_null(put_of(calls, n, calls[i].result));
	}
}

static void test_cut_of_random_histories_is_bad_and_explains_itself(void **state)
{
	struct fiber_test_call all[CALLS], calls[CALLS];
	unsigned bad = 0, sum = 0, i;
	uint32_t fibers[CALLS], n, last;

	(void)state;
	while (bad < 300) {
		make(all);
		if (fiber_test_linearizable(&queue, all, CALLS, NULL) != 0)
			continue;
		bad++;
		memcpy(calls, all, sizeof all);
		for (i = 0; i < CALLS; i++)
			fibers[i] = i;
		n = fib_cut(&queue, calls, fibers, CALLS, 0, alive, &last);
		expect_sense(all, calls, fibers, n, last);
		sum += n;
	}
	/* Most of them are short. */
	assert_true(sum < bad * CALLS / 2);
}

/* 200 calls one after another: the last 80 lines, and the end of a text that is too long. */
static int print_much(const struct fiber_test_call *call, char *text, size_t size)
{
	(void)call;
	return snprintf(text, size, "0123456789 123456789 12\a456789");
}

static void test_drawing_is_limited_and_has_no_control_bytes(void **state)
{
	struct fiber_test_model model = queue;
	struct fiber_test_call calls[200];
	uint32_t fibers[200], i, lines = 0;
	static char text[FIB_DRAWING];
	const char *at;

	(void)state;
	model.print = print_much;
	for (i = 0; i < 200; i++) {
		calls[i] = (struct fiber_test_call){.begin = i + 1, .end = 500 + i};
		fibers[i] = i % 20;
	}
	fib_draw(&model, calls, fibers, 200, 199, text, sizeof text);
	assert_memory_equal(text, "  prepare", 9);
	assert_non_null(strstr(text, "\n  ... 320 earlier begins and returns\n"));
	assert_non_null(strstr(text, "\n  ... fiber 12, for which there is no column\n"));
	for (at = text; *at; at++)
		lines += *at == '\n';
	assert_int_equal(lines, 82);
	fib_draw(&model, calls, fibers, 1, UINT32_MAX, text, sizeof text);
	assert_string_equal(text, "  prepare\n  0123456789 123456789 12?\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_that_put_and_took_other_items_are_left_out),
		cmocka_unit_test(test_item_that_was_lost_is_shown),
		cmocka_unit_test(test_item_taken_twice_keeps_both_takes),
		cmocka_unit_test(test_other_keys_are_left_out),
		cmocka_unit_test(test_cut_of_random_histories_is_bad_and_explains_itself),
		cmocka_unit_test(test_drawing_is_limited_and_has_no_control_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
