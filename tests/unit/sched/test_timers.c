/* SPDX-License-Identifier: MIT */
/* test_timers.c - deadlines expire in order, and removing a timer early leaves the heap whole */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/rand.h"
#include "sched/timers.h"
#include "tests/harness/watchdog.h"

#define FIBERS 500u
#define OPS    10000u

static struct fiber *fibers; /* never run: a heap touches only parker, timers, timer_slot */
static struct fib_timers t;

/* What the heap should contain, kept in a simple array. */
static int64_t expected[FIBERS]; /* INT64_MAX: the fiber has no timer */

static int setup(void **state)
{
	unsigned i;

	(void)state;
	fib_timers_init(&t);
	memset(fibers, 0, FIBERS * sizeof *fibers);
	for (i = 0; i < FIBERS; i++) {
		fibers[i].parker.fiber = &fibers[i];
		expected[i] = INT64_MAX;
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fib_timers_release(&t);
	return 0;
}

static uint32_t add(unsigned i, int64_t deadline)
{
	uint32_t armed = fib_parker_arm(&fibers[i].parker, FIB_OUTCOME_ARMED);

	assert_int_equal(fib_timers_add(&t, &fibers[i], armed, deadline), 0);
	expected[i] = deadline;
	return armed;
}

static struct fiber *expire_one(struct fib_timers *timers, int64_t now)
{
	struct fiber *fiber;

	return fib_timers_expire(timers, now, &fiber, 1) ? fiber : NULL;
}

static void drop(unsigned i)
{
	fib_timers_drop(&fibers[i]);
	expected[i] = INT64_MAX;
}

static unsigned nearest(void)
{
	unsigned i, least = 0;

	for (i = 1; i < FIBERS; i++)
		if (expected[i] < expected[least])
			least = i;
	return least;
}

/*
 * Check that each entry is where its fiber says, no entry is earlier than its parent, and all
 * expected entries are there.
 */
static void check_heap(void)
{
	unsigned i, n = 0;

	for (i = 0; i < FIBERS; i++) {
		struct fiber *f = &fibers[i];

		if (expected[i] == INT64_MAX) {
			assert_null(f->timers);
			continue;
		}
		n++;
		assert_ptr_equal(f->timers, &t);
		assert_ptr_equal(t.slots[f->timer_slot].fiber, f);
		assert_in_range(t.at[f->timer_slot], 0, t.count - 1);
		assert_int_equal(t.heap[t.at[f->timer_slot]].slot, f->timer_slot);
		assert_true(t.heap[t.at[f->timer_slot]].deadline == expected[i]);
	}
	assert_int_equal(t.count, n);
	for (i = 1; i < t.count; i++)
		assert_true(t.heap[(i - 1) / 4].deadline <= t.heap[i].deadline);
	assert_true(fib_load(&t.nearest) == expected[nearest()]);
}

/* Expire one timer, which must be one of the nearest. False if no timer is due. */
static bool expire(int64_t now)
{
	int64_t least = expected[nearest()];
	struct fiber *f = expire_one(&t, now);

	if (!f) {
		assert_true(least > now);
		return false;
	}
	assert_true(least <= now);
	assert_true(expected[f - fibers] == least);
	assert_int_equal(fib_parker_outcome(&f->parker), FIB_OUTCOME_TIMED_OUT);
	assert_null(f->timers);
	expected[f - fibers] = INT64_MAX;
	return true;
}

static void test_timers_are_empty_at_first(void **state)
{
	(void)state;
	assert_true(fib_load(&t.nearest) == INT64_MAX);
	assert_null(expire_one(&t, INT64_MAX - 1));
	fib_timers_drop(&fibers[0]);
	check_heap();
}

static void test_timers_expire_in_the_order_of_their_deadlines(void **state)
{
	uint64_t seed = 7;
	unsigned i;

	(void)state;
	for (i = 0; i < FIBERS; i++)
		add(i, 1 + fib_rand_below(&seed, 1000000));
	check_heap();
	for (i = 0; i < FIBERS; i++)
		assert_true(expire(1000000));
	assert_false(expire(INT64_MAX - 1));
	check_heap();
}

static void test_timers_expire_nothing_before_its_time(void **state)
{
	(void)state;
	add(0, 100);
	add(1, 50);
	assert_false(expire(49));
	assert_true(expire(50));
	assert_false(expire(99));
	assert_true(expire(1000));
	assert_false(expire(1000));
}

static void test_timers_with_equal_deadlines_all_expire_once(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < FIBERS; i++)
		add(i, i % 3 ? 5 : 6);
	check_heap();
	assert_false(expire(4));
	for (i = 0; i < FIBERS; i++)
		assert_true(expire(6));
	assert_false(expire(6));
}

static void test_timers_expire_many_at_a_time_the_nearest_first(void **state)
{
	struct fiber *due[FIB_TIMERS_BATCH];
	unsigned i, n, next = 0;

	(void)state;
	for (i = 0; i < 100; i++)
		add(i, 100 - (int64_t)i);
	drop(70); /* deadline 30 */
	while ((n = fib_timers_expire(&t, 50, due, next ? FIB_TIMERS_BATCH : 3))) {
		assert_in_range(n, 1, next ? FIB_TIMERS_BATCH : 3);
		for (i = 0; i < n; i++) {
			unsigned which = (unsigned)(due[i] - fibers);

			next += next == 29 ? 2 : 1;
			assert_int_equal(which, 100 - next);
			expected[which] = INT64_MAX;
		}
		check_heap();
	}
	assert_int_equal(next, 50);
	assert_int_equal(t.count, 50);
	assert_int_equal(fib_timers_expire(&t, 1000, due, FIB_TIMERS_BATCH), FIB_TIMERS_BATCH);
}

static void test_timers_any_element_can_be_dropped(void **state)
{
	unsigned victim, i;
	uint64_t seed = 99;

	(void)state;
	for (victim = 0; victim < 60; victim++) {
		for (i = 0; i < 60; i++)
			add(i, 1 + fib_rand_below(&seed, 50));
		/* Drop the timer of the fiber at this index of the heap. */
		i = (unsigned)(t.slots[t.heap[victim].slot].fiber - fibers);
		drop(i);
		check_heap();
		drop(i); /* has no effect */
		check_heap();
		while (expire(50))
			;
		check_heap();
	}
}

static void test_timers_leave_a_wait_alone_that_was_woken_otherwise(void **state)
{
	uint32_t armed;

	(void)state;
	armed = add(0, 10);
	add(1, 20);
	assert_true(fib_parker_claim(&fibers[0].parker, armed, FIB_OUTCOME_WOKEN));
	assert_ptr_equal(expire_one(&t, 30), &fibers[1]);
	assert_int_equal(fib_parker_outcome(&fibers[0].parker), FIB_OUTCOME_WOKEN);
	assert_null(fibers[0].timers);
	assert_null(expire_one(&t, 30));
}

static void test_timers_leave_a_later_wait_of_the_same_fiber_alone(void **state)
{
	uint32_t armed;

	(void)state;
	armed = add(0, 10);
	assert_true(fib_parker_claim(&fibers[0].parker, armed, FIB_OUTCOME_WOKEN));
	/* The fiber already waits for something else and has not yet dropped the old entry. */
	fib_parker_arm(&fibers[0].parker, FIB_OUTCOME_ARMED);
	assert_null(expire_one(&t, 30));
	assert_int_equal(fib_parker_outcome(&fibers[0].parker), FIB_OUTCOME_ARMED);
}

static void test_timers_agree_with_a_sorted_list_over_random_operations(void **state)
{
	uint64_t seed = 20240501;
	int64_t now = 1;
	unsigned op, i, added = 0, dropped = 0, expired = 0;

	(void)state;
	for (op = 0; op < OPS; op++) {
		i = fib_rand_below(&seed, FIBERS);
		switch (fib_rand_below(&seed, 8)) {
		case 0:
			now += fib_rand_below(&seed, 40);
			while (expire(now))
				expired++;
			break;
		case 1:
			dropped += expected[i] != INT64_MAX;
			drop(i);
			break;
		default:
			if (expected[i] != INT64_MAX)
				break;
			add(i, now + 1 + fib_rand_below(&seed, 500));
			added++;
		}
		assert_true(fib_load(&t.nearest) == expected[nearest()]);
		if (op % 20 == 0)
			check_heap();
	}
	check_heap();
	while (expire(INT64_MAX - 1))
		expired++;
	assert_int_equal(added, dropped + expired);
	assert_true(dropped > 100);
	assert_true(expired > 1000);
}

/* -- fibers drop their timers from other threads while the owner adds and expires -- */

static _Atomic unsigned adding = 1;
static _Atomic unsigned in_heap[FIBERS];

static void *dropper(void *arg)
{
	uint64_t seed = 5;

	(void)arg;
	while (fib_load(&adding)) {
		unsigned i = fib_rand_below(&seed, FIBERS);

		/* pairs: the owner's release -- a fiber drops its own timer, after it was added */
		if (fib_load_acquire(&in_heap[i]) != 1)
			continue;
		fib_timers_drop(&fibers[i]);
		fib_store_release(&in_heap[i], 0);
	}
	return NULL;
}

static void test_timers_can_be_dropped_by_another_thread(void **state)
{
	uint64_t seed = 6;
	pthread_t thread;
	unsigned op;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, dropper, NULL), 0);
	for (op = 1; op < OPS * 5; op++) {
		unsigned i = fib_rand_below(&seed, FIBERS);

		if (!fib_load_acquire(&in_heap[i])) {
			uint32_t armed = fib_parker_arm(&fibers[i].parker, FIB_OUTCOME_ARMED);

			if (fib_timers_add(&t, &fibers[i], armed, op + 100) < 0)
				break;
			fib_store_release(&in_heap[i], 1);
		}
		while (expire_one(&t, op))
			;
	}
	fib_store(&adding, 0);
	pthread_join(thread, NULL);
	assert_int_equal(op, OPS * 5);
	for (op = 0; op < FIBERS; op++)
		fib_timers_drop(&fibers[op]);
	assert_int_equal(t.count, 0);
	assert_true(fib_load(&t.nearest) == INT64_MAX);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_timers_are_empty_at_first),
		TEST(test_timers_expire_in_the_order_of_their_deadlines),
		TEST(test_timers_expire_nothing_before_its_time),
		TEST(test_timers_with_equal_deadlines_all_expire_once),
		TEST(test_timers_expire_many_at_a_time_the_nearest_first),
		TEST(test_timers_any_element_can_be_dropped),
		TEST(test_timers_leave_a_wait_alone_that_was_woken_otherwise),
		TEST(test_timers_leave_a_later_wait_of_the_same_fiber_alone),
		TEST(test_timers_agree_with_a_sorted_list_over_random_operations),
		TEST(test_timers_can_be_dropped_by_another_thread),
	};
	int rc;

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	fibers = aligned_alloc(FIB_CACHE_LINE, FIBERS * sizeof *fibers);
	if (!fibers)
		return 1;
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	free(fibers);
	return rc;
}
