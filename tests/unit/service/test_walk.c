/* SPDX-License-Identifier: MIT */
/* test_walk.c - the registry is walked in pieces, every fiber at most once */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "records.h"
#include "service/walk.h"
#include "tests/harness/watchdog.h"

#define MANY 1000u

static struct fiber *all[MANY];
static struct fib_cursor cursor;

static int setup(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < MANY; i++)
		all[i] = record_make("walked", 0, 0);
	memset(&cursor, 0, sizeof cursor);
	return 0;
}

static int teardown(void **state)
{
	size_t i;

	(void)state;
	for (i = MANY; i-- > 0;)
		if (all[i]->id)
			record_end(all[i]);
	return 0;
}

static void test_walk_meets_every_fiber_once_in_pieces(void **state)
{
	unsigned met = 0, pieces = 0;
	uint64_t index, before = 0;

	(void)state;
	fib_walk_begin(&cursor, 0);
	while (!fib_walk_done(&cursor)) {
		struct fib_walk_budget budget = {.fibers = 64, .records = 65536};
		unsigned here = 0;

		while (fib_walk_next(&cursor, &budget, &index)) {
			assert_true(!met || index > before);
			before = index;
			met++;
			here++;
		}
		assert_true(here <= 64);
		pieces++;
	}
	assert_int_equal(met, MANY);
	assert_true(pieces >= MANY / 64);
	assert_int_equal(cursor.end.total, MANY);
}

static void test_walk_looks_at_no_more_records_than_it_may(void **state)
{
	struct fib_walk_budget budget = {.fibers = 64, .records = 10};
	uint64_t index;
	unsigned met = 0;

	(void)state;
	fib_walk_begin(&cursor, 0);
	while (fib_walk_next(&cursor, &budget, &index))
		met++;
	assert_true(met <= 10);
	assert_int_equal(cursor.next, 10);
	assert_false(fib_walk_done(&cursor));
}

static void test_walk_for_one_fiber_meets_it_and_counts_all(void **state)
{
	struct fib_walk_budget budget = {.fibers = 64, .records = 65536};
	uint64_t index;

	(void)state;
	fib_walk_begin(&cursor, fiber_id(all[500]));
	assert_true(fib_walk_next(&cursor, &budget, &index));
	assert_int_equal(index, record_index(all[500]));
	assert_false(fib_walk_next(&cursor, &budget, &index));
	assert_true(fib_walk_done(&cursor));
	assert_int_equal(cursor.end.total, MANY);
}

static void test_walk_passes_fibers_that_ended(void **state)
{
	struct fib_walk_budget budget = {.fibers = 2000, .records = 65536};
	uint64_t index;
	unsigned met = 0;

	(void)state;
	record_end(all[3]);
	record_end(all[700]);
	fib_walk_begin(&cursor, 0);
	while (fib_walk_next(&cursor, &budget, &index))
		met++;
	assert_int_equal(met, MANY - 2);
}

static void test_walk_says_how_long_it_took(void **state)
{
	struct fib_walk_budget budget = {.fibers = 2000, .records = 65536};
	int64_t before = fib_os_now();
	uint64_t index;

	(void)state;
	fib_walk_begin(&cursor, 0);
	while (fib_walk_next(&cursor, &budget, &index))
		;
	fib_walk_finish(&cursor);
	assert_true(cursor.end.sampled_ns > 0);
	assert_true(cursor.end.sampled_ns <= fib_os_now() - before);
}

#define WALK_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WALK_TEST(test_walk_meets_every_fiber_once_in_pieces),
		WALK_TEST(test_walk_looks_at_no_more_records_than_it_may),
		WALK_TEST(test_walk_for_one_fiber_meets_it_and_counts_all),
		WALK_TEST(test_walk_passes_fibers_that_ended),
		WALK_TEST(test_walk_says_how_long_it_took),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
