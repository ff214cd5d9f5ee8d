/* SPDX-License-Identifier: MIT */
/* test_class.c - which free stack is taken next, and which free stacks lose their pages */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "os/os.h"
#include "stack/class.h"
#include "tests/harness/watchdog.h"

#define CLASS 1u /* 32 KiB */
#define SOME  40u

static struct fib_stack_class class;
static struct fib_stack stacks[SOME], got;

static void cut_some(void)
{
	memset(&class, 0, sizeof class);
	for (unsigned i = 0; i < SOME; i++)
		assert_int_equal(fib_class_cut(&class, CLASS, &stacks[i]), 0);
}

/* Return the number of bytes from the lowest resident page to the end. */
static int64_t resident(const struct fib_stack *stack)
{
	return fib_os_high_water((uint64_t)(uintptr_t)stack->low, stack->size);
}

static void use(const struct fib_stack *stack)
{
	memset(stack->low, 1, stack->size);
}

static void test_class_cuts_stacks_apart_with_a_guard_between(void **state)
{
	char byte;

	(void)state;
	cut_some();
	assert_int_equal(class.cut, SOME);
	assert_int_equal(class.count, 0);
	for (unsigned i = 0; i < SOME; i++) {
		assert_int_equal(stacks[i].size, fib_class_size(CLASS));
		assert_int_equal(stacks[i].class, CLASS);
		use(&stacks[i]);
		assert_true(fib_os_peek((uint64_t)(uintptr_t)stacks[i].low - 1, &byte, 1) < 0);
		for (unsigned k = 0; k < i; k++)
			assert_true(
				(char *)stacks[i].low >= (char *)stacks[k].low + stacks[k].size ||
				(char *)stacks[k].low >= (char *)stacks[i].low + stacks[i].size);
	}
}

static void test_class_gives_the_last_one_first_and_the_cold_ones_last(void **state)
{
	(void)state;
	cut_some();
	fib_class_push(&class, &stacks[0]);
	fib_class_push_cold(&class, &stacks[1]);
	fib_class_push(&class, &stacks[2]);
	fib_class_push_cold(&class, &stacks[3]);
	assert_int_equal(class.count, 4);
	assert_int_equal(class.cold, 2);
	fib_class_pop(&class, &got);
	assert_true(got.low == stacks[2].low || got.low == stacks[0].low);
	fib_class_pop(&class, &got);
	assert_true(got.low == stacks[2].low || got.low == stacks[0].low);
	fib_class_pop(&class, &got);
	assert_true(got.low == stacks[1].low || got.low == stacks[3].low);
	fib_class_pop(&class, &got);
	assert_true(got.low == stacks[1].low || got.low == stacks[3].low);
	assert_int_equal(class.count, 0);
}

static void test_class_cold_ones_have_no_page_until_they_are_used(void **state)
{
	(void)state;
	cut_some();
	for (unsigned i = 0; i < SOME; i++)
		fib_class_push_cold(&class, &stacks[i]);
	fib_class_pop(&class, &got);
	assert_int_equal(resident(&got), 0);
	assert_true(class.cold < SOME);
}

static void test_class_idle_ones_lose_their_pages_at_the_second_look(void **state)
{
	unsigned i;

	(void)state;
	cut_some();
	for (i = 0; i < SOME; i++) {
		use(&stacks[i]);
		fib_class_push(&class, &stacks[i]);
	}
	class.idle = 0; /* all stacks have just been freed */
	fib_class_trim(&class);
	assert_int_equal(class.cold, 0);
	fib_class_pop(&class, &got); /* one of them is used in the period */
	assert_true(got.low == stacks[SOME - 1].low);
	fib_class_push(&class, &got);
	fib_class_trim(&class);
	assert_int_equal(class.cold, SOME - 1);
	assert_int_equal(resident(&stacks[0]), 0);
	assert_int_equal(resident(&stacks[SOME - 2]), 0);
	assert_int_equal(resident(&stacks[SOME - 1]), stacks[SOME - 1].size);
	fib_class_pop(&class, &got);
	assert_true(got.low == stacks[SOME - 1].low);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_class_cuts_stacks_apart_with_a_guard_between),
		cmocka_unit_test(test_class_gives_the_last_one_first_and_the_cold_ones_last),
		cmocka_unit_test(test_class_cold_ones_have_no_page_until_they_are_used),
		cmocka_unit_test(test_class_idle_ones_lose_their_pages_at_the_second_look),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
