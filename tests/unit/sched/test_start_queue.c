/* SPDX-License-Identifier: MIT */
/* test_start_queue.c - new fibers start in order, unless there are many of them */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "sched/start_queue.h"
#include "tests/harness/watchdog.h"

#define MANY (FIB_START_QUEUE_MANY + FIB_RING * 2)

static struct fib_runqueue queue, other_queue;
static struct fib_start_queue fresh, other;
static struct fiber *fibers;

static int setup(void **state)
{
	(void)state;
	memset(&queue, 0, sizeof queue);
	memset(&other_queue, 0, sizeof other_queue);
	fib_runqueue_init(&queue, false);
	fib_runqueue_init(&other_queue, false);
	fresh = other = (struct fib_start_queue){.alone = false};
	fibers = aligned_alloc(FIB_CACHE_LINE, (MANY + 1) * sizeof *fibers);
	return fibers ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(fibers);
	return 0;
}

static void put(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		fib_start_queue_put(&fresh, &queue, &fibers[i]);
}

static void test_fresh_few_begin_in_the_order_in_which_they_came(void **state)
{
	(void)state;
	assert_true(fib_start_queue_empty(&fresh));
	assert_null(fib_start_queue_take(&fresh, false));
	put(FIB_START_QUEUE_MANY);
	assert_false(fib_start_queue_empty(&fresh));
	for (unsigned i = 0; i < FIB_START_QUEUE_MANY; i++)
		assert_ptr_equal(fib_start_queue_take(&fresh, i % 2), &fibers[i]);
	assert_null(fib_start_queue_take(&fresh, false));
	assert_null(fib_start_queue_take(&fresh, true));
	put(1); /* the queue works again after it was empty */
	assert_ptr_equal(fib_start_queue_take(&fresh, false), &fibers[0]);
}

static void test_fresh_of_many_the_newest_begins_until_there_are_few(void **state)
{
	unsigned i;

	(void)state;
	put(MANY);
	for (i = MANY; i > FIB_START_QUEUE_MANY; i--)
		assert_ptr_equal(fib_start_queue_take(&fresh, false), &fibers[i - 1]);
	for (i = 0; i < FIB_START_QUEUE_MANY; i++)
		assert_ptr_equal(fib_start_queue_take(&fresh, false), &fibers[i]);
	assert_true(fib_start_queue_empty(&fresh));
}

static void test_fresh_of_many_the_oldest_begins_where_it_must_be_fair(void **state)
{
	(void)state;
	put(MANY);
	assert_ptr_equal(fib_start_queue_take(&fresh, true), &fibers[0]);
	assert_ptr_equal(fib_start_queue_take(&fresh, false), &fibers[MANY - 1]);
	assert_ptr_equal(fib_start_queue_take(&fresh, true), &fibers[1]);
	assert_ptr_equal(fib_start_queue_take(&fresh, false), &fibers[MANY - 2]);
}

static void test_fresh_stands_in_line_with_the_run_queue(void **state)
{
	(void)state;
	fib_runqueue_put(&queue, &fibers[0]);
	fib_start_queue_put(&fresh, &queue, &fibers[1]);
	fib_runqueue_put(&queue, &fibers[2]);
	fib_start_queue_put(&fresh, &queue, &fibers[3]);
	assert_false(fib_start_queue_due(&fresh, &queue));
	assert_ptr_equal(fib_runqueue_take(&queue), &fibers[0]);
	assert_true(fib_start_queue_due(&fresh, &queue));
	assert_ptr_equal(fib_start_queue_take(&fresh, false), &fibers[1]);
	assert_false(fib_start_queue_due(&fresh, &queue));
	assert_ptr_equal(fib_runqueue_take(&queue), &fibers[2]);
	assert_true(fib_start_queue_due(&fresh, &queue));
	assert_ptr_equal(fib_start_queue_take(&fresh, false), &fibers[3]);
	assert_false(fib_start_queue_due(&fresh, &queue));
}

static void test_fresh_stands_behind_what_the_ring_cannot_hold(void **state)
{
	unsigned i, n = FIB_RING * 2 + 7;

	(void)state;
	for (i = 0; i < n; i++)
		fib_runqueue_put(&queue, &fibers[i]);
	fib_start_queue_put(&fresh, &queue, &fibers[n]);
	for (i = 0; i < n; i++) {
		assert_false(fib_start_queue_due(&fresh, &queue));
		assert_ptr_equal(fib_runqueue_take(&queue), &fibers[i]);
	}
	assert_true(fib_start_queue_due(&fresh, &queue));
}

static void test_fresh_thief_gets_the_older_half_in_order(void **state)
{
	(void)state;
	assert_null(fib_start_queue_steal(&other, &other_queue, &fresh));
	put(9);
	assert_ptr_equal(fib_start_queue_steal(&other, &other_queue, &fresh), &fibers[0]);
	for (unsigned i = 1; i < 5; i++)
		assert_ptr_equal(fib_start_queue_take(&other, false), &fibers[i]);
	assert_true(fib_start_queue_empty(&other));
	for (unsigned i = 5; i < 9; i++)
		assert_ptr_equal(fib_start_queue_take(&fresh, false), &fibers[i]);
	put(1);
	assert_ptr_equal(fib_start_queue_steal(&other, &other_queue, &fresh), &fibers[0]);
	assert_true(fib_start_queue_empty(&fresh));
	assert_true(fib_start_queue_empty(&other));
}

#define FRESH_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FRESH_TEST(test_fresh_few_begin_in_the_order_in_which_they_came),
		FRESH_TEST(test_fresh_of_many_the_newest_begins_until_there_are_few),
		FRESH_TEST(test_fresh_of_many_the_oldest_begins_where_it_must_be_fair),
		FRESH_TEST(test_fresh_stands_in_line_with_the_run_queue),
		FRESH_TEST(test_fresh_stands_behind_what_the_ring_cannot_hold),
		FRESH_TEST(test_fresh_thief_gets_the_older_half_in_order),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
