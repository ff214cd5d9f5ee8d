/* SPDX-License-Identifier: MIT */
/* test_counts.c - how many stacks there are, in use and free */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "os/os.h"
#include "stack/pool.h"
#include "tests/harness/watchdog.h"

#define SECOND INT64_C(1000000000)

/* No other test here uses this size, so its class is unused. */
#define FRESH (2u << 20)

static struct fib_stack_totals before, after;

static void test_stacks_are_made_when_there_are_none_and_then_stay(void **state)
{
	struct fib_stack s[2];

	(void)state;
	fib_stack_count(&before);
	assert_int_equal(fib_stack_take(NULL, FRESH, &s[0]), 0);
	assert_int_equal(fib_stack_take(NULL, FRESH, &s[1]), 0);
	fib_stack_count(&after);
	assert_int_equal(after.made, before.made + 2);
	assert_int_equal(after.bytes, before.bytes + 2 * (uint64_t)FRESH);
	assert_int_equal(after.free, before.free);
	fib_stack_give(NULL, &s[0]);
	fib_stack_give(NULL, &s[1]);
	fib_stack_count(&after);
	assert_int_equal(after.made, before.made + 2);
	assert_int_equal(after.free, before.free + 2);
	assert_int_equal(after.cold, before.cold);
}

static void test_stacks_of_a_cache_are_counted_there(void **state)
{
	struct fib_stack_cache cache = {0};
	struct fib_stack s[3];
	unsigned i;

	(void)state;
	for (i = 0; i < 3; i++)
		assert_int_equal(fib_stack_take(NULL, FIB_STACK_MIN, &s[i]), 0);
	fib_stack_count(&before);
	for (i = 0; i < 3; i++) {
		assert_int_equal(fib_stack_cached(&cache), i);
		fib_stack_give(&cache, &s[i]);
	}
	fib_stack_count(&after);
	assert_int_equal(after.free, before.free);
	fib_stack_flush(&cache);
	assert_int_equal(fib_stack_cached(&cache), 0);
	fib_stack_count(&after);
	assert_int_equal(after.free, before.free + 3);
	assert_int_equal(after.made, before.made);
}

static void test_stacks_that_were_promised_are_free_ones(void **state)
{
	struct fib_stack s;
	size_t size;
	unsigned class;

	(void)state;
	assert_int_equal(fib_stack_class(FIB_STACK_MIN, 0, &class, &size), 0);
	fib_stack_count(&before);
	assert_int_equal(fib_stack_promise(NULL, class), 0);
	fib_stack_count(&after);
	assert_int_equal(after.promised, before.promised + 1);
	assert_true(after.free >= after.promised);
	fib_stack_take_promised(NULL, class, &s);
	fib_stack_count(&after);
	assert_int_equal(after.promised, before.promised);
	fib_stack_give(NULL, &s);
}

static void test_stacks_that_lost_their_memory_are_counted(void **state)
{
	int64_t now = fib_os_now() + SECOND;
	struct fib_stack s;

	(void)state;
	assert_int_equal(fib_stack_take(NULL, FRESH, &s), 0);
	fib_stack_give(NULL, &s);
	fib_stack_trim(now);
	fib_stack_count(&before);
	fib_stack_trim(now + SECOND); /* no stack was taken meanwhile */
	fib_stack_count(&after);
	assert_true(after.trimmed > before.trimmed);
	assert_int_equal(after.cold - before.cold, after.trimmed - before.trimmed);
	assert_int_equal(after.free, before.free);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks_are_made_when_there_are_none_and_then_stay),
		cmocka_unit_test(test_stacks_of_a_cache_are_counted_there),
		cmocka_unit_test(test_stacks_that_were_promised_are_free_ones),
		cmocka_unit_test(test_stacks_that_lost_their_memory_are_counted),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
