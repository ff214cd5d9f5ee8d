/* SPDX-License-Identifier: MIT */
/* test_alloc.c - a stack from the pool is complete, guarded, and reused */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <string.h>

#include <fiber/context.h>

#include "stack/stack.h"
#include "tests/harness/child.h"
#include "tests/harness/watchdog.h"

#define MANY 40u

static void test_alloc_gives_at_least_what_is_asked_for(void **state)
{
	static const size_t sizes[] = {0,     1,	 16 << 10, (16 << 10) + 1,  64 << 10,
				       65000, 256 << 10, 1 << 20,  (1 << 20) - 4096};
	struct fiber_stack stack;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		assert_int_equal(fiber_stack_alloc(sizes[i], &stack), 0);
		assert_true(stack.size >= sizes[i]);
		memset(stack.base, 0x11, stack.size);
		fiber_stack_free(&stack);
		assert_null(stack.base);
	}
}

static void test_alloc_refuses_what_cannot_be(void **state)
{
	struct fiber_stack stack;

	(void)state;
	assert_int_equal(fiber_stack_alloc(SIZE_MAX, &stack), -EINVAL);
	assert_int_equal(fiber_stack_alloc(FIB_STACK_MAX + 1, &stack), -EINVAL);
	assert_int_equal(fiber_stack_alloc(FIB_STACK_MAX, &stack), -EINVAL);
	assert_int_equal(fiber_stack_alloc(4096, NULL), -EINVAL);
	memset(&stack, 0, sizeof stack);
	fiber_stack_free(&stack);
}

static void test_alloc_takes_back_and_gives_again(void **state)
{
	struct fiber_stack stack, again;
	void *base;
	size_t size;

	(void)state;
	assert_int_equal(fiber_stack_alloc(64 << 10, &stack), 0);
	base = stack.base;
	size = stack.size;
	fiber_stack_free(&stack);
	assert_int_equal(fiber_stack_alloc(64 << 10, &again), 0);
	assert_ptr_equal(again.base, base);
	assert_int_equal(again.size, size);
	fiber_stack_free(&again);
}

static void test_alloc_spreads_tops_and_keeps_stacks_apart(void **state)
{
	static struct fiber_stack stacks[MANY];
	unsigned colours = 0, i;

	(void)state;
	for (i = 0; i < MANY; i++) {
		assert_int_equal(fiber_stack_alloc(32 << 10, &stacks[i]), 0);
		memset(stacks[i].base, (int)i, stacks[i].size);
	}
	for (i = 0; i < MANY; i++) {
		const unsigned char *low = stacks[i].base;

		assert_int_equal(low[0], i);
		assert_int_equal(low[stacks[i].size - 1], i);
		if (i && ((uintptr_t)low + stacks[i].size) % 4096 !=
				 ((uintptr_t)stacks[0].base + stacks[0].size) % 4096)
			colours++;
	}
	assert_true(colours > MANY / 2);
	for (i = 0; i < MANY; i++)
		fiber_stack_free(&stacks[i]);
}

/* -- the guard -- */

static int write_below(void *arg)
{
	struct fiber_stack stack;

	(void)arg;
	if (fiber_stack_alloc(16 << 10, &stack) < 0)
		return 1;
	((volatile char *)stack.base)[-1] = 1;
	return 2;
}

static void test_alloc_guards_what_lies_below(void **state)
{
	struct harness_child child;

	(void)state;
	harness_child(write_below, NULL, 20, &child);
	assert_int_equal(child.signal, SIGSEGV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alloc_gives_at_least_what_is_asked_for),
		cmocka_unit_test(test_alloc_refuses_what_cannot_be),
		cmocka_unit_test(test_alloc_takes_back_and_gives_again),
		cmocka_unit_test(test_alloc_spreads_tops_and_keeps_stacks_apart),
		cmocka_unit_test(test_alloc_guards_what_lies_below),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
