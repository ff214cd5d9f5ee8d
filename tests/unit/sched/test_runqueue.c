/* SPDX-License-Identifier: MIT */
/* test_runqueue.c - first in, first out; thieves take half; no fiber is lost or doubled */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/rand.h"
#include "sched/runqueue.h"
#include "tests/harness/watchdog.h"

#define FEW	1000u
#define MANY	100000u
#define THIEVES 3u

static struct fiber *fibers; /* never run: a queue touches only their link */
static struct fib_runqueue q, own;

static int setup(void **state)
{
	(void)state;
	memset(&q, 0, sizeof q);
	memset(&own, 0, sizeof own);
	fib_runqueue_init(&q, false);
	fib_runqueue_init(&own, false);
	return 0;
}

static void put(unsigned from, unsigned to)
{
	for (; from < to; from++)
		fib_runqueue_put(&q, &fibers[from]);
}

/* Return the number of a fiber, -1 for NULL. */
static long number(const struct fiber *fiber)
{
	return fiber ? (long)(fiber - fibers) : -1;
}

static void takes(unsigned from, unsigned to)
{
	for (; from < to; from++)
		assert_int_equal(number(fib_runqueue_take(&q)), from);
}

static unsigned in_ring(struct fib_runqueue *queue)
{
	return fib_load(&queue->tail) - fib_load(&queue->head);
}

static void test_runqueue_is_empty_at_first_and_at_last(void **state)
{
	(void)state;
	assert_true(fib_runqueue_empty(&q));
	assert_null(fib_runqueue_take(&q));
	assert_null(fib_runqueue_steal(&own, &q));
	put(0, 1);
	assert_false(fib_runqueue_empty(&q));
	takes(0, 1);
	assert_true(fib_runqueue_empty(&q));
	assert_null(fib_runqueue_take(&q));
}

static void test_runqueue_is_first_in_first_out(void **state)
{
	unsigned i;

	(void)state;
	put(0, 10);
	takes(0, 10);
	/* Run until the ring is empty, never twice at the same index. */
	put(0, 3);
	for (i = 3; i < FEW; i++) {
		put(i, i + 1);
		takes(i - 3, i - 2);
	}
	takes(FEW - 3, FEW);
	assert_null(fib_runqueue_take(&q));
}

static void test_runqueue_ring_is_bounded_and_the_rest_goes_to_the_list(void **state)
{
	(void)state;
	put(0, FIB_RING);
	assert_int_equal(in_ring(&q), FIB_RING);
	assert_int_equal(fib_load(&q.overflowing), 0);
	put(FIB_RING, FIB_RING + 5);
	assert_int_equal(in_ring(&q), FIB_RING);
	assert_int_equal(fib_load(&q.overflowing), 5);
	takes(0, FIB_RING + 5);
	assert_true(fib_runqueue_empty(&q));
	assert_int_equal(fib_load(&q.overflowing), 0);
}

static void test_runqueue_keeps_its_order_while_it_overflows(void **state)
{
	(void)state;
	put(0, 600);
	/* The ring has room again, but the list's fibers are older than the new ones. */
	takes(0, 100);
	put(600, 700);
	takes(100, 500);
	put(700, 900);
	takes(500, 900);
	assert_null(fib_runqueue_take(&q));
	assert_null(q.overflow_first);
	assert_null(q.overflow_last);
}

static void test_runqueue_gives_everybody_one_turn_a_round(void **state)
{
	unsigned round, i;

	(void)state;
	put(0, FEW);
	for (round = 0; round < 20; round++) {
		for (i = 0; i < FEW; i++) {
			struct fiber *fiber = fib_runqueue_take(&q);

			assert_int_equal(number(fiber), i);
			fib_runqueue_put(&q, fiber);
		}
	}
}

static void test_runqueue_without_thieves_grows_and_keeps_its_order(void **state)
{
	unsigned i;

	(void)state;
	fib_runqueue_init(&q, true);
	/* The counters overflow in this test, and the ring does not start with its first slot. */
	fib_store(&q.head, UINT32_MAX - 100);
	fib_store(&q.tail, UINT32_MAX - 100);
	put(0, 150);
	takes(0, 100);
	put(150, FIB_RING * 3);
	assert_int_equal(in_ring(&q), FIB_RING * 3 - 100);
	assert_int_equal(fib_load(&q.overflowing), 0);
	assert_true(q.mask >= FIB_RING * 3 - 101);
	for (i = 100; i < FIB_RING * 3; i++)
		assert_int_equal(number(fib_runqueue_turn(&q, &fibers[i])), i);
	takes(100, FIB_RING * 3);
	assert_null(fib_runqueue_turn(&q, &fibers[0]));
	assert_true(fib_runqueue_empty(&q));
	fib_runqueue_release(&q);
}

/* The list is refilled by fib_runqueue_take() only. */
static void test_runqueue_take_without_thieves_is_the_same_take(void **state)
{
	unsigned i;

	(void)state;
	fib_runqueue_init(&q, true);
	assert_null(fib_runqueue_take_alone(&q));
	put(0, FIB_RING * 3);
	for (i = 0; i < FIB_RING * 3; i += 2) {
		assert_int_equal(number(fib_runqueue_take_alone(&q)), i);
		assert_int_equal(number(fib_runqueue_take(&q)), i + 1);
	}
	assert_null(fib_runqueue_take_alone(&q));
	assert_true(fib_runqueue_empty(&q));
	fib_runqueue_release(&q);
}

static void test_runqueue_view_sees_what_a_peek_sees(void **state)
{
	struct fib_runqueue_view v;
	uint32_t i;

	(void)state;
	put(0, 20);
	takes(0, 3);
	v = fib_runqueue_view(&q);
	for (i = 0; i < 20; i++) {
		assert_int_equal(number(fib_runqueue_view_peek(&v, i)), i < 17 ? (long)i + 3 : -1);
		assert_ptr_equal(fib_runqueue_view_peek(&v, i), fib_runqueue_peek(&q, i));
	}
}

static void test_runqueue_works_across_the_end_of_its_counters(void **state)
{
	(void)state;
	fib_store(&q.head, UINT32_MAX - 100);
	fib_store(&q.tail, UINT32_MAX - 100);
	fib_store(&own.head, UINT32_MAX - 2);
	fib_store(&own.tail, UINT32_MAX - 2);
	put(0, FIB_RING + 44);
	assert_int_equal(in_ring(&q), FIB_RING);
	assert_int_equal(number(fib_runqueue_steal(&own, &q)), 0);
	assert_int_equal(in_ring(&own), FIB_RING / 2 - 1);
	takes(FIB_RING / 2, FIB_RING + 44);
	assert_null(fib_runqueue_take(&q));
}

/* A thief gets the older half, the larger one if they differ, in order. */
static void steals_half_of(unsigned n)
{
	unsigned half = n - n / 2, i;

	setup(NULL);
	put(0, n);
	assert_int_equal(number(fib_runqueue_steal(&own, &q)), 0);
	assert_int_equal(in_ring(&own), half - 1);
	assert_int_equal(in_ring(&q), n - half);
	for (i = 1; i < half; i++)
		assert_int_equal(number(fib_runqueue_take(&own)), i);
	assert_null(fib_runqueue_take(&own));
	takes(half, n);
	assert_null(fib_runqueue_take(&q));
}

static void test_runqueue_steal_takes_the_older_half(void **state)
{
	unsigned n;

	(void)state;
	for (n = 1; n <= FIB_RING; n++)
		steals_half_of(n);
}

static void test_runqueue_steal_takes_from_the_list_when_the_ring_is_empty(void **state)
{
	unsigned i;

	(void)state;
	put(0, FIB_RING + 10);
	/* A thief leaves the younger half; it steals again until the ring is empty. */
	while (in_ring(&q)) {
		assert_non_null(fib_runqueue_steal(&own, &q));
		while (fib_runqueue_take(&own))
			;
	}
	assert_int_equal(fib_load(&q.overflowing), 10);
	assert_int_equal(number(fib_runqueue_steal(&own, &q)), FIB_RING);
	for (i = 1; i < 10; i++)
		assert_int_equal(number(fib_runqueue_take(&own)), FIB_RING + i);
	assert_true(fib_runqueue_empty(&q));
	assert_true(fib_runqueue_empty(&own));
}

/* -- one owner, three thieves -- */

static struct fib_runqueue queues[THIEVES + 1];
static _Atomic unsigned char taken[MANY];
static _Atomic unsigned taken_all;

static void took(struct fiber *fiber)
{
	fib_add_relaxed(&taken[fiber - fibers], 1);
	fib_add_relaxed(&taken_all, 1);
}

static void *thief(void *arg)
{
	struct fib_runqueue *mine = arg;
	uint64_t seed = (uint64_t)(mine - queues) + 1;
	struct fiber *fiber;

	while (fib_load(&taken_all) < MANY) {
		struct fib_runqueue *victim = &queues[fib_rand_below(&seed, THIEVES + 1)];

		fiber = victim == mine ? NULL : fib_runqueue_steal(mine, victim);
		if (!fiber)
			sched_yield();
		for (; fiber; fiber = fib_runqueue_take(mine))
			took(fiber);
	}
	return NULL;
}

/* Bursts below and above the ring's size. Returns how often its own order was not kept. */
static unsigned own_all(void)
{
	uint64_t seed = 42;
	unsigned next = 0, n, disorder = 0;
	long last = -1;

	/* The thieves are at work before the owner takes anything. */
	while (next < FIB_RING * 2)
		fib_runqueue_put(&queues[0], &fibers[next++]);
	while (!fib_load(&taken_all))
		sched_yield();
	while (fib_load(&taken_all) < MANY) {
		for (n = fib_rand_below(&seed, FIB_RING * 3); n && next < MANY; n--)
			fib_runqueue_put(&queues[0], &fibers[next++]);
		for (n = fib_rand_below(&seed, FIB_RING * 2); n; n--) {
			struct fiber *fiber = fib_runqueue_take(&queues[0]);

			if (!fiber)
				break;
			disorder += number(fiber) <= last;
			last = number(fiber);
			took(fiber);
		}
		if (n)
			sched_yield();
	}
	return disorder;
}

static void test_runqueue_loses_and_doubles_nothing_under_three_thieves(void **state)
{
	pthread_t threads[THIEVES];
	unsigned i, disorder, wrong = 0;

	(void)state;
	for (i = 0; i <= THIEVES; i++)
		fib_runqueue_init(&queues[i], false);
	for (i = 0; i < THIEVES; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, thief, &queues[i + 1]), 0);
	disorder = own_all();
	for (i = 0; i < THIEVES; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < MANY; i++)
		wrong += fib_load(&taken[i]) != 1;
	assert_int_equal(wrong, 0);
	assert_int_equal(disorder, 0);
	for (i = 0; i <= THIEVES; i++)
		assert_true(fib_runqueue_empty(&queues[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_runqueue_is_empty_at_first_and_at_last, setup),
		cmocka_unit_test_setup(test_runqueue_is_first_in_first_out, setup),
		cmocka_unit_test_setup(test_runqueue_take_without_thieves_is_the_same_take, setup),
		cmocka_unit_test_setup(test_runqueue_view_sees_what_a_peek_sees, setup),
		cmocka_unit_test_setup(test_runqueue_ring_is_bounded_and_the_rest_goes_to_the_list,
				       setup),
		cmocka_unit_test_setup(test_runqueue_keeps_its_order_while_it_overflows, setup),
		cmocka_unit_test_setup(test_runqueue_gives_everybody_one_turn_a_round, setup),
		cmocka_unit_test_setup(test_runqueue_without_thieves_grows_and_keeps_its_order,
				       setup),
		cmocka_unit_test_setup(test_runqueue_works_across_the_end_of_its_counters, setup),
		cmocka_unit_test_setup(test_runqueue_steal_takes_the_older_half, setup),
		cmocka_unit_test_setup(
			test_runqueue_steal_takes_from_the_list_when_the_ring_is_empty, setup),
		cmocka_unit_test(test_runqueue_loses_and_doubles_nothing_under_three_thieves),
	};
	int rc;

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	fibers = aligned_alloc(FIB_CACHE_LINE, MANY * sizeof *fibers);
	if (!fibers)
		return 1;
	memset(fibers, 0, MANY * sizeof *fibers);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	free(fibers);
	return rc;
}
