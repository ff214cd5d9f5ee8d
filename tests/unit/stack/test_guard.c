/* SPDX-License-Identifier: MIT */
/*
 * test_guard.c - every guard faults from the start, and many guards do not cost many mappings
 *
 * To see whether a guard faults the kernel is asked to copy from it: it returns EFAULT.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>

#include "os/os.h"
#include "stack/guard.h"
#include "stack/stack.h"
#include "tests/harness/watchdog.h"

#define STRIDE (2 * FIB_STACK_GUARD)
#define FIRST  8192u /* guards with a mapping of their own */
#define ALL    (2 * FIRST)

static char *slab;

static unsigned mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned lines = 0;
	int c;

	if (!maps)
		return 0;
	while ((c = getc(maps)) != EOF)
		lines += c == '\n';
	fclose(maps);
	return lines;
}

static void *place(unsigned i)
{
	return slab + (size_t)i * STRIDE;
}

static bool faults(unsigned i, size_t offset)
{
	char byte;

	return fib_os_peek((uint64_t)(uintptr_t)place(i) + offset, &byte, 1) == -EFAULT;
}

static void guard_some(unsigned from, unsigned to)
{
	unsigned i;

	for (i = from; i < to; i++) {
		assert_int_equal(fib_guard(place(i), FIB_STACK_GUARD, 0, 1), 1);
		assert_true(faults(i, 0));
		assert_true(faults(i, FIB_STACK_GUARD - 1));
		/* Touch a page between the guards, as in a used stack. */
		slab[(size_t)i * STRIDE + STRIDE - 1] = 1;
	}
}

static void assert_all_fault(unsigned count)
{
	unsigned i;

	for (i = 0; i < count; i++) {
		assert_true(faults(i, 0));
		assert_true(faults(i, FIB_STACK_GUARD - 1));
		assert_false(faults(i, FIB_STACK_GUARD));
		assert_false(faults(i, STRIDE - 1));
	}
}

static void test_guard_many_faults_and_leave_few_mappings(void **state)
{
	unsigned before = mappings(), split;
	void *at;

	(void)state;
	assert_int_equal(fib_os_map_stacks((size_t)ALL * STRIDE, &at), 0);
	fib_os_will_split(at, (size_t)ALL * STRIDE);
	slab = at;
	guard_some(0, FIRST);
	split = mappings();
	/* Each guard is a mapping that a debugger can leave out. */
	assert_true(split >= before + 2 * FIRST - 2);
	assert_all_fault(FIRST);

	guard_some(FIRST, FIRST + 100);
	if (mappings() > split) {
		print_message("# this kernel has no guards inside a mapping: all of them split\n");
	} else {
		assert_all_fault(FIRST + 100);
		guard_some(FIRST + 100, FIRST + FIRST / 2 + 1);
		assert_true(mappings() < before + 30);
	}
	assert_all_fault(FIRST + 100);
	fib_os_unmap(slab, (size_t)ALL * STRIDE);
}

/* Must run after the test above: now guards are made inside mappings, if the kernel can. */
static void test_guard_several_at_once_are_as_many_as_it_says(void **state)
{
	const unsigned wanted = 50;
	unsigned i, made;
	void *at;
	int rc;

	(void)state;
	assert_int_equal(fib_os_map_stacks((size_t)ALL * STRIDE, &at), 0);
	fib_os_will_split(at, (size_t)ALL * STRIDE);
	slab = at;
	rc = fib_guard(place(0), FIB_STACK_GUARD, STRIDE, wanted);
	assert_in_range(rc, 1, wanted);
	made = (unsigned)rc;
	assert_all_fault(made);
	for (i = made; i < wanted + 1; i++)
		assert_false(faults(i, 0));
	fib_os_unmap(slab, (size_t)ALL * STRIDE);
}

static void test_guard_that_cannot_be_made_is_an_error(void **state)
{
	(void)state;
	/* Nothing is mapped at this place. */
	assert_true(fib_guard(place(0), FIB_STACK_GUARD, 0, 1) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guard_many_faults_and_leave_few_mappings),
		cmocka_unit_test(test_guard_several_at_once_are_as_many_as_it_says),
		cmocka_unit_test(test_guard_that_cannot_be_made_is_an_error),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
