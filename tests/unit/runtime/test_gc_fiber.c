/* SPDX-License-Identifier: MIT */
/* test_gc_fiber.c - the ranges in which one fiber keeps pointers, from its record */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/locals.h"
#include "life/cleanup.h"
#include "runtime/gc_fiber.h"
#include "tests/harness/watchdog.h"

#define SIZE   8192u
#define COLOUR 192u
#define MOST   16u

static char stack[SIZE];
static struct fiber fiber;
static struct fiber_gc_range ranges[MOST];
static unsigned count, stop_after;

static int add(const struct fiber_gc_range *range, void *arg)
{
	assert_ptr_equal(arg, &fiber);
	assert_true(count < MOST);
	ranges[count++] = *range;
	return count == stop_after ? 17 : 0;
}

static int walk(bool stopped)
{
	const struct fib_gc_walk w = {.fn = add, .arg = &fiber, .stopped = stopped};

	count = 0;
	return fib_gc_fiber(&w, &fiber);
}

/* A fiber with `used` bytes below the usable top of its stack; 0: it has not started. */
static void make(uint64_t seq, size_t used)
{
	memset(&fiber, 0, sizeof fiber);
	fiber.id = 7;
	fib_store(&fiber.seq, seq);
	fiber.stack.low = stack;
	fiber.stack.size = SIZE;
	fiber.stack.colour = COLOUR;
	fiber.context.sp = used ? (uint64_t)(uintptr_t)stack + SIZE - COLOUR - used : 0;
	stop_after = 0;
}

/* The one range of that kind, or NULL. */
static const struct fiber_gc_range *only(enum fiber_gc_kind kind)
{
	const struct fiber_gc_range *found = NULL;

	for (unsigned i = 0; i < count; i++) {
		if (ranges[i].kind != kind)
			continue;
		assert_null(found);
		found = &ranges[i];
	}
	return found;
}

static void assert_word(enum fiber_gc_kind kind, const void *word)
{
	const struct fiber_gc_range *range = only(kind);

	assert_non_null(range);
	assert_ptr_equal(range->low, word);
	assert_ptr_equal(range->high, (const char *)word + sizeof(void *));
}

static void test_gc_fiber_that_is_suspended_uses_its_stack_from_the_red_zone_to_the_usable_top(
	void **state)
{
	const struct fiber_gc_range *range;

	(void)state;
	make(4, 640);
	assert_int_equal(walk(false), 0);
	range = only(FIBER_GC_STACK);
	assert_non_null(range);
	assert_ptr_equal(range->low, stack + SIZE - COLOUR - 640 - FIB_FRAME_RED_ZONE);
	assert_ptr_equal(range->high, stack + SIZE - COLOUR);
	assert_int_equal(range->flags, 0);
	assert_int_equal(range->fiber, 7);
	assert_int_equal(range->seq, 4);
	assert_word(FIBER_GC_REGISTER, &fiber.context.fp);
	assert_word(FIBER_GC_RESULT, &fiber.result.value);
	assert_int_equal(count, 3);
}

static void test_gc_fiber_near_the_end_of_its_stack_has_no_red_zone_below_it(void **state)
{
	(void)state;
	make(4, SIZE - COLOUR - 8);
	walk(false);
	/* A port without a red zone has nothing below sp. */
	assert_ptr_equal(only(FIBER_GC_STACK)->low, stack + (FIB_FRAME_RED_ZONE ? 0 : 8));
}

static void test_gc_fiber_that_runs_is_its_whole_stack_and_says_so(void **state)
{
	(void)state;
	make(5, 640);
	walk(false);
	assert_ptr_equal(only(FIBER_GC_STACK)->low, stack);
	assert_ptr_equal(only(FIBER_GC_STACK)->high, stack + SIZE - COLOUR);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(ranges[i].flags, FIBER_GC_RUNNING);
	assert_null(only(FIBER_GC_REGISTER));
}

static void test_gc_fiber_that_left_on_another_stack_is_its_whole_stack_and_says_so(void **state)
{
	static char other[64];

	(void)state;
	make(4, 640);
	fiber.context.sp = (uint64_t)(uintptr_t)other;
	walk(false);
	assert_ptr_equal(only(FIBER_GC_STACK)->low, stack);
	assert_int_equal(only(FIBER_GC_STACK)->flags, FIBER_GC_ELSEWHERE);
	assert_int_equal(only(FIBER_GC_RESULT)->flags, 0);
}

static void test_gc_fiber_has_its_argument_in_the_record_until_it_leaves_its_first_turn(
	void **state)
{
	(void)state;
	for (uint64_t seq = 0; seq < 4; seq++) {
		make(seq, seq & 1 ? 640 : 0);
		walk(true);
		if (seq <= 1)
			assert_word(FIBER_GC_ARGUMENT, &fiber.arg);
		else
			assert_null(only(FIBER_GC_ARGUMENT));
	}
}

static void test_gc_fiber_without_a_stack_has_no_range_of_one(void **state)
{
	(void)state;
	make(0, 0);
	fiber.stack.low = NULL;
	walk(true);
	assert_null(only(FIBER_GC_STACK));
	assert_word(FIBER_GC_ARGUMENT, &fiber.arg);
	/* It runs, but has not been given its stack yet. */
	fib_store(&fiber.seq, 1);
	walk(true);
	assert_null(only(FIBER_GC_STACK));
}

static void test_gc_fiber_that_has_exited_has_its_result_alone(void **state)
{
	(void)state;
	make(6, 0);
	walk(true);
	assert_int_equal(count, 1);
	assert_word(FIBER_GC_RESULT, &fiber.result.value);
}

static void test_gc_fiber_record_that_is_free_has_nothing(void **state)
{
	(void)state;
	make(6, 0);
	fiber.id = 0;
	walk(true);
	assert_int_equal(count, 0);
	walk(false);
	assert_int_equal(count, 0);
}

static void test_gc_fiber_whose_spawn_was_stopped_halfway_has_its_argument_and_values(void **state)
{
	static struct {
		struct fib_locals head;
		struct fib_local at[2];
	} table;

	(void)state;
	make(0, 0);
	fiber.id = 0;
	table.head.count = 2;
	fiber.locals = &table.head;
	walk(true);
	assert_int_equal(count, 2);
	assert_word(FIBER_GC_ARGUMENT, &fiber.arg);
	assert_non_null(only(FIBER_GC_LOCALS));
	/* It belongs to a thread that goes on. */
	walk(false);
	assert_int_equal(count, 0);
}

static void test_gc_fiber_values_and_exit_handlers_are_found_each(void **state)
{
	struct fib_exit first = {NULL, free, NULL}, second = {&first, free, NULL};
	struct fib_locals *locals = NULL;
	fiber_key_t key;
	unsigned handlers = 0;

	(void)state;
	assert_int_equal(fiber_key_create(&key, NULL), 0);
	assert_int_equal(fib_locals_set(&locals, key, stack), 0);
	for (int stopped = 0; stopped < 2; stopped++) {
		make(4, 640);
		fiber.locals = locals;
		fiber.exits = &second;
		walk(stopped);
		assert_ptr_equal(only(FIBER_GC_LOCALS)->low, locals->at);
		assert_ptr_equal(only(FIBER_GC_LOCALS)->high, locals->at + locals->count);
		for (unsigned i = 0; i < count; i++) {
			if (ranges[i].kind != FIBER_GC_EXIT_HANDLER)
				continue;
			assert_ptr_equal(ranges[i].low, handlers % 2 ? &first.arg : &second.arg);
			handlers++;
		}
		assert_int_equal(count, 6);
	}
	assert_int_equal(handlers, 4);
	fib_locals_free(locals);
	fiber_key_delete(key);
}

static void test_gc_fiber_walk_ends_when_the_program_says_so(void **state)
{
	(void)state;
	make(4, 640);
	stop_after = 2;
	assert_int_equal(walk(false), 17);
	assert_int_equal(count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_gc_fiber_that_is_suspended_uses_its_stack_from_the_red_zone_to_the_usable_top),
		cmocka_unit_test(test_gc_fiber_near_the_end_of_its_stack_has_no_red_zone_below_it),
		cmocka_unit_test(test_gc_fiber_that_runs_is_its_whole_stack_and_says_so),
		cmocka_unit_test(
			test_gc_fiber_that_left_on_another_stack_is_its_whole_stack_and_says_so),
		cmocka_unit_test(
			test_gc_fiber_has_its_argument_in_the_record_until_it_leaves_its_first_turn),
		cmocka_unit_test(test_gc_fiber_without_a_stack_has_no_range_of_one),
		cmocka_unit_test(test_gc_fiber_that_has_exited_has_its_result_alone),
		cmocka_unit_test(test_gc_fiber_record_that_is_free_has_nothing),
		cmocka_unit_test(
			test_gc_fiber_whose_spawn_was_stopped_halfway_has_its_argument_and_values),
		cmocka_unit_test(test_gc_fiber_values_and_exit_handlers_are_found_each),
		cmocka_unit_test(test_gc_fiber_walk_ends_when_the_program_says_so),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
