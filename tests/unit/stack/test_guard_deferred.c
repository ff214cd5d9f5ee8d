/* SPDX-License-Identifier: MIT */
/*
 * test_guard_deferred.c - guards are made inside their mapping, and split when another thread has the
 * time
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
#define SPLITS 8192u
#define SOME   200u
#define ALL    (SPLITS + SOME)

static char *slab;

static unsigned mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned lines = 0;
	int c;

	assert_non_null(maps);
	while ((c = getc(maps)) != EOF)
		lines += c == '\n';
	fclose(maps);
	return lines;
}

static bool faults(unsigned i, size_t offset)
{
	char byte;

	return fib_os_peek((uint64_t)(uintptr_t)slab + (size_t)i * STRIDE + offset, &byte, 1) ==
	       -EFAULT;
}

/* Make guards, and use the stacks above them. */
static void guard(unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++) {
		assert_int_equal(fib_guard(slab + (size_t)i * STRIDE, FIB_STACK_GUARD, STRIDE, 1),
				 1);
		slab[(size_t)i * STRIDE + STRIDE - 1] = 1;
	}
}

static void assert_all_fault(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		assert_true(faults(i, 0));
		assert_true(faults(i, FIB_STACK_GUARD - 1));
		assert_false(faults(i, FIB_STACK_GUARD));
		assert_false(faults(i, STRIDE - 1));
	}
}

static int start(void **state)
{
	void *at;

	(void)state;
	fib_guard_defer(true);
	if (fib_os_map_stacks((size_t)ALL * STRIDE, &at) < 0)
		return -1;
	slab = at;
	guard(0, 1);
	return 0;
}

static void split_those_that_are_older_than_the_last_call(void)
{
	const unsigned before = mappings();

	assert_false(fib_guard_splits_at_once());
	guard(1, SOME);
	assert_all_fault(SOME);
	assert_in_range(mappings(), before - 2, before + 2);
	/* None of them is older than a call. */
	fib_guard_separate(SOME);
	assert_true(fib_guard_waits());
	assert_in_range(mappings(), before - 2, before + 2);
	fib_guard_separate(SOME / 2);
	assert_true(fib_guard_waits());
	assert_in_range(mappings(), before + SOME - 4, before + SOME + 4);
	fib_guard_separate(SOME);
	assert_false(fib_guard_waits());
	assert_in_range(mappings(), before + 2 * SOME - 4, before + 2 * SOME + 4);
	assert_all_fault(SOME);
	fib_guard_separate(SOME);
	assert_false(fib_guard_waits());
}

static void join_again_when_there_are_too_many(void)
{
	const unsigned before = mappings();

	guard(SOME, ALL);
	assert_in_range(mappings(), before - 2, before + 2);
	fib_guard_separate(SOME / 2);
	assert_true(fib_guard_waits());
	assert_in_range(mappings(), before - SOME - 4, before - SOME + 4);
	fib_guard_separate(SOME);
	assert_false(fib_guard_waits());
	assert_in_range(mappings(), before - 2 * SOME - 4, before - 2 * SOME + 4);
	assert_all_fault(ALL);
	fib_guard_separate(SOME);
	assert_false(fib_guard_waits());
}

static void test_deferred_guards_split_later_and_join_again_when_there_are_too_many(void **state)
{
	(void)state;
	if (!fib_guard_can_wait())
		skip();
	split_those_that_are_older_than_the_last_call();
	join_again_when_there_are_too_many();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_deferred_guards_split_later_and_join_again_when_there_are_too_many),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, start, NULL);
}
