/* SPDX-License-Identifier: MIT */
/* test_record_cache.c - records and ids from a cache stay unique */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>

#include "core/record_cache.h"
#include "core/registry.h"
#include "tests/harness/watchdog.h"

#define MANY	1000u
#define THREADS 4u
#define ROUNDS	200u

static struct fib_record_cache cache;

static void test_record_cache_gives_each_record_once(void **state)
{
	static struct fiber *taken[MANY];
	unsigned i;

	(void)state;
	for (i = 0; i < MANY; i++) {
		assert_int_equal(fib_record_take(&cache, &taken[i]), 0);
		assert_null(taken[i]->arg);
		taken[i]->arg = taken[i]; /* a second user of the record would find arg set */
	}
	for (i = 0; i < MANY; i++) {
		taken[i]->arg = NULL;
		fib_record_give(&cache, taken[i]);
	}
	/* The cache keeps some records, not all. */
	assert_in_range(cache.count, 1, 100);
	fib_record_flush(&cache);
	assert_int_equal(cache.count, 0);
}

/* Records in use are those taken and not cached. */
static void test_record_cache_counts_what_it_keeps_of_what_is_taken(void **state)
{
	static struct fiber *held[MANY];
	uint64_t before = fib_registry_taken();
	unsigned i;

	(void)state;
	for (i = 0; i < MANY; i++) {
		assert_int_equal(fib_record_take(&cache, &held[i]), 0);
		assert_int_equal(fib_registry_taken() - fib_record_kept(&cache), before + i + 1);
	}
	for (i = MANY; i > 0; i--) {
		fib_record_give(&cache, held[i - 1]);
		assert_int_equal(fib_registry_taken() - fib_record_kept(&cache), before + i - 1);
	}
	assert_true(fib_record_kept(&cache) > 0);
	fib_record_flush(&cache);
	assert_int_equal(fib_record_kept(&cache), 0);
	assert_int_equal(fib_registry_taken(), before);
}

static void test_record_cache_gives_the_warmest_first(void **state)
{
	struct fiber *a, *b, *again;

	(void)state;
	assert_int_equal(fib_record_take(&cache, &a), 0);
	assert_int_equal(fib_record_take(&cache, &b), 0);
	fib_record_give(&cache, b);
	fib_record_give(&cache, a);
	assert_int_equal(fib_record_take(&cache, &again), 0);
	assert_ptr_equal(again, a);
	fib_record_give(&cache, again);
	fib_record_flush(&cache);
}

static void test_record_ids_count_up_and_are_not_given_twice(void **state)
{
	struct fib_record_cache other = {0};
	struct fiber *f;
	uint64_t last = 0, theirs;
	unsigned i;

	(void)state;
	assert_int_equal(fib_record_take(NULL, &f), 0);
	for (i = 0; i < MANY; i++) {
		fib_record_name(NULL, f);
		assert_true(f->id > last);
		last = f->id;
		fib_record_name(NULL, f);
		theirs = f->id;
		assert_true(theirs != last);
		fib_record_name(NULL, f);
		assert_true(f->id > theirs && f->id > last);
	}
	fib_publish(&f->id, 0);
	fib_record_give(NULL, f);
	fib_record_flush(&cache);
	fib_record_flush(&other);
}

static void test_record_ids_come_one_by_one_when_few_and_together_when_many(void **state)
{
	struct fib_record_cache one = {0}, two = {0};
	int64_t now = fib_coarse_now();
	uint64_t id = 0, next;
	unsigned i, together = 0;

	(void)state;
	/* Each id is taken in a new tick: the caches alternate, and no id is skipped. */
	for (i = 0; i < 10; i++) {
		fib_coarse_set(now += 1000000);
		next = fib_record_id(i % 2 ? &one : &two);
		assert_true(!id || next == id + 1);
		id = next;
	}
	/* All in one tick: the ids of one cache come in longer and longer runs. */
	for (i = 0; i < 1000; i++) {
		uint64_t a = fib_record_id(&one), b = fib_record_id(&two);

		assert_true(a != b);
		assert_true(a > id || i);
		together += a == id + 1;
		id = a;
	}
	assert_true(together > 900);
	/* Leftover ids are dropped: a later fiber has a higher id. */
	next = fib_record_id(&two);
	fib_coarse_set(now += 1000000);
	id = fib_record_id(&one);
	assert_true(id > next);
	assert_true(fib_record_id(&two) > next);
	fib_coarse_set(now + 1000000);
	assert_true(fib_record_id(&two) > id);
}

static void test_record_ids_that_are_left_are_given_back_if_they_are_the_last(void **state)
{
	struct fib_record_cache one = {0}, two = {0};
	int64_t now = fib_coarse_now();
	uint64_t id = 0, last = 0;
	unsigned tick, i;

	(void)state;
	/* One cache alone: no gap, however many it needs in a tick. */
	for (tick = 0; tick < 10; tick++) {
		fib_coarse_set(now += 1000000);
		for (i = 0; i < 1 + tick * 7; i++) {
			id = fib_record_id(&one);
			assert_true(!last || id == last + 1);
			last = id;
		}
	}
	assert_true(one.ids > 0);
	fib_record_flush(&one);
	assert_int_equal(one.ids, 0);
	assert_int_equal(fib_registry_next_id(), last + 1);
	/* Another one takes ids between: those left are dropped, and none is given twice. */
	for (i = 0; i < 4; i++)
		last = fib_record_id(&one);
	assert_true(one.ids > 0);
	id = fib_record_id(&two);
	assert_true(id > last + 1);
	fib_record_flush(&one);
	assert_true(fib_registry_next_id() > id);
	fib_record_flush(&two);
}

/* A thread takes and frees through its own cache, and notes the ids it used. */
static void *live(void *arg)
{
	struct fib_record_cache own = {0};
	struct fiber *held[64];
	uint64_t *ids = arg;
	unsigned round, i;

	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < fib_countof(held); i++) {
			if (fib_record_take(&own, &held[i]) < 0)
				abort();
			fib_record_name(&own, held[i]);
			*ids++ = held[i]->id;
		}
		for (i = 0; i < fib_countof(held); i++) {
			fib_publish(&held[i]->id, 0);
			fib_record_give(&own, held[i]);
		}
	}
	fib_record_flush(&own);
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void test_record_ids_of_many_threads_are_all_different(void **state)
{
	const size_t each = (size_t)ROUNDS * 64, all = each * THREADS;
	uint64_t *ids = calloc(all, sizeof *ids);
	pthread_t threads[THREADS];
	size_t i;

	(void)state;
	assert_non_null(ids);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, live, ids + i * each), 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	qsort(ids, all, sizeof *ids, by_value);
	for (i = 1; i < all; i++)
		assert_true(ids[i] > ids[i - 1]);
	free(ids);
}

static int init(void **state)
{
	(void)state;
	return fib_registry_init();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record_cache_gives_each_record_once),
		cmocka_unit_test(test_record_cache_gives_the_warmest_first),
		cmocka_unit_test(test_record_cache_counts_what_it_keeps_of_what_is_taken),
		cmocka_unit_test(test_record_ids_count_up_and_are_not_given_twice),
		cmocka_unit_test(test_record_ids_come_one_by_one_when_few_and_together_when_many),
		cmocka_unit_test(test_record_ids_that_are_left_are_given_back_if_they_are_the_last),
		cmocka_unit_test(test_record_ids_of_many_threads_are_all_different),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, init, NULL);
}
