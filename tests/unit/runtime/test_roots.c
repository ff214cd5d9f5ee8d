/* SPDX-License-Identifier: MIT */
/* test_roots.c - a leak checker gets only the records and used stacks of live fibers */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/atomic.h"
#include "runtime/roots.h"
#include "tests/harness/watchdog.h"

#define SIZE 4096u

static char stack[SIZE];
static struct fiber fiber;
static struct {
	const void *low;
	size_t size;
} told[8];
static unsigned count;

static void add(const void *low, size_t size)
{
	assert_true(count < 8);
	told[count].low = low;
	told[count++].size = size;
}

static unsigned ask(enum fiber_state state, size_t used)
{
	memset(&fiber, 0, sizeof fiber);
	fiber.id = 7;
	fiber.stack.low = stack;
	fiber.stack.size = SIZE;
	fiber.context.sp = used ? (uint64_t)(uintptr_t)stack + SIZE - used : 0;
	fib_store(&fiber.state, (uint8_t)state);
	count = 0;
	return fib_roots_of(&fiber, add);
}

static void test_roots_of_a_suspended_fiber_are_its_record_and_the_used_part_of_its_stack(
	void **state)
{
	(void)state;
	assert_int_equal(ask(FIBER_SUSPENDED, 640), 2);
	assert_int_equal(count, 2);
	assert_ptr_equal(told[0].low, &fiber);
	assert_int_equal(told[0].size, sizeof fiber);
	assert_ptr_equal(told[1].low, stack + SIZE - 640);
	assert_int_equal(told[1].size, 640);
}

static void test_roots_of_a_running_fiber_are_its_record_and_its_whole_stack(void **state)
{
	(void)state;
	assert_int_equal(ask(FIBER_RUNNING, 640), 2);
	assert_ptr_equal(told[1].low, stack);
	assert_int_equal(told[1].size, SIZE);
}

static void test_roots_of_a_fiber_without_a_stack_are_its_record(void **state)
{
	(void)state;
	ask(FIBER_CREATED, 0);
	fiber.stack.low = NULL;
	count = 0;
	assert_int_equal(fib_roots_of(&fiber, add), 1);
	assert_int_equal(count, 1);
}

static void test_roots_of_a_dead_fiber_and_of_a_free_record_are_none(void **state)
{
	(void)state;
	assert_int_equal(ask(FIBER_DEAD, 640), 0);
	ask(FIBER_SUSPENDED, 640);
	fiber.id = 0;
	count = 0;
	assert_int_equal(fib_roots_of(&fiber, add), 0);
	assert_int_equal(count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_roots_of_a_suspended_fiber_are_its_record_and_the_used_part_of_its_stack),
		cmocka_unit_test(test_roots_of_a_running_fiber_are_its_record_and_its_whole_stack),
		cmocka_unit_test(test_roots_of_a_fiber_without_a_stack_are_its_record),
		cmocka_unit_test(test_roots_of_a_dead_fiber_and_of_a_free_record_are_none),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
