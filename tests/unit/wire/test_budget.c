/* SPDX-License-Identifier: MIT */
/* test_budget.c - how long and how large an answer may be, with a clock that the test moves */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include "tests/harness/watchdog.h"
#include "wire/budget.h"

#define MS	INT64_C(1000000)
#define SECOND	(1000 * MS)
#define STEP	(10 * MS) /* time between two checks */
#define TIMEOUT (5 * SECOND)

static struct fib_wire_budget budget;
static int64_t now; /* the test's clock, ns */

static void begin(enum fib_wire_type request)
{
	now = SECOND;
	fib_wire_budget_begin(&budget, request, TIMEOUT, now);
}

/* Wait for ns in steps. Return the error that ended the wait; 0: none. */
static int wait_for(int64_t ns)
{
	const int64_t until = now + ns;
	int rc = 0;

	while (rc == 0 && now < until) {
		now += STEP;
		rc = fib_wire_budget_wait(&budget, STEP);
	}
	return rc;
}

/*
 * Let a STILL frame come every 200 ms, each further on by step. Return ns until the budget ended
 * the wait.
 */
static int64_t until_claims_end(uint64_t step, uint64_t all)
{
	const int64_t began = now;
	struct fib_wire_still still = {0, all};

	while (wait_for(200 * MS) == 0) {
		still.done += step;
		fib_wire_budget_come(&budget, sizeof still, now);
		fib_wire_budget_still(&budget, &still, sizeof still);
	}
	return now - began;
}

static const enum fib_wire_type small[] = {
	FIB_WIRE_HELLO,	   FIB_WIRE_POLICY, FIB_WIRE_CARRIERS, FIB_WIRE_ACT,
	FIB_WIRE_WATCHDOG, FIB_WIRE_AUDIT,  FIB_WIRE_THREAD,
};
#define SMALL (sizeof small / sizeof small[0])

static const enum fib_wire_type large[] = {
	FIB_WIRE_LIST, FIB_WIRE_SHOW, FIB_WIRE_STACK, FIB_WIRE_EVENTS, FIB_WIRE_RECORD,
};
#define LARGE (sizeof large / sizeof large[0])

static void test_budget_of_a_small_answer_is_a_second_whatever_comes(void **state)
{
	const struct fib_wire_still still = {5, 10};
	size_t i;

	(void)state;
	for (i = 0; i < SMALL; i++) {
		begin(small[i]);
		fib_wire_budget_come(&budget, 1, now);
		assert_int_equal(wait_for(SECOND / 2), 0);
		fib_wire_budget_come(&budget, 1, now);
		fib_wire_budget_news(&budget, 1000);
		fib_wire_budget_still(&budget, &still, sizeof still);
		assert_int_equal(wait_for(SECOND / 2), -ETIME);
	}
}

static void test_budget_tells_silence_from_an_answer_without_end(void **state)
{
	(void)state;
	begin(FIB_WIRE_HELLO);
	assert_int_equal(wait_for(2 * SECOND), -ETIMEDOUT);
	begin(FIB_WIRE_HELLO);
	fib_wire_budget_come(&budget, 1, now);
	assert_int_equal(wait_for(2 * SECOND), -ETIME);
}

static void test_budget_is_no_more_than_the_callers_patience(void **state)
{
	(void)state;
	fib_wire_budget_begin(&budget, FIB_WIRE_HELLO, 20 * MS, now);
	assert_int_equal(fib_wire_budget_wait(&budget, 10 * MS), 0);
	assert_int_equal(fib_wire_budget_wait(&budget, 10 * MS), -ETIMEDOUT);
}

static void test_budget_of_a_large_answer_ends_without_anything_new(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < LARGE; i++) {
		int64_t began;

		begin(large[i]);
		began = now;
		while (wait_for(200 * MS) == 0) {
			fib_wire_budget_come(&budget, 12, now);
			fib_wire_budget_still(&budget, "", 0);
		}
		assert_in_range(now - began, FIB_WIRE_PATIENCE - STEP, FIB_WIRE_PATIENCE + STEP);
	}
}

/*
 * An honest program with a million fibers and busy CPUs sends a stack every 2 to 100 ms, and now
 * and then no stack for seconds.
 */
static void test_budget_of_a_large_answer_goes_on_with_what_is_new(void **state)
{
	unsigned i;

	(void)state;
	begin(FIB_WIRE_STACK);
	for (i = 0; i < 10000; i++) {
		assert_int_equal(wait_for(i % 100 ? 100 * MS : 8 * SECOND), 0);
		assert_int_equal(fib_wire_budget_come(&budget, 100000, now), 0);
		fib_wire_budget_news(&budget, 1);
		assert_int_equal(fib_wire_budget_frame(&budget, 100000), 0);
	}
}

/* One new fiber a second is too little progress to wait for. */
static void test_budget_of_a_large_answer_ends_when_it_drips(void **state)
{
	const int64_t began = SECOND;

	(void)state;
	begin(FIB_WIRE_LIST);
	while (wait_for(SECOND) == 0)
		fib_wire_budget_news(&budget, 1);
	assert_in_range(now - began, FIB_WIRE_PATIENCE, 2 * FIB_WIRE_PATIENCE);
}

static void test_budget_saves_no_more_than_the_patience(void **state)
{
	(void)state;
	begin(FIB_WIRE_LIST);
	fib_wire_budget_news(&budget, UINT64_MAX);
	fib_wire_budget_news(&budget, 1000000);
	assert_in_range(budget.left, FIB_WIRE_PATIENCE, FIB_WIRE_PATIENCE);
}

static void test_budget_of_any_answer_ends_in_the_end(void **state)
{
	(void)state;
	begin(FIB_WIRE_LIST);
	assert_int_equal(fib_wire_budget_come(&budget, 1, now + FIB_WIRE_LONGEST - 1), 0);
	assert_int_equal(fib_wire_budget_come(&budget, 1, now + FIB_WIRE_LONGEST), -ETIME);
}

static void test_budget_of_bytes(void **state)
{
	(void)state;
	begin(FIB_WIRE_COUNTERS);
	assert_int_equal(fib_wire_budget_frame(&budget, 65536), 0);
	assert_int_equal(fib_wire_budget_frame(&budget, FIB_WIRE_FRAME_MAX), -ETIME);
	fib_wire_budget_come(&budget, FIB_WIRE_SMALL_BYTES + 1, now);
	fib_wire_budget_news(&budget, 1);
	assert_int_equal(fib_wire_budget_frame(&budget, 0), -ETIME);
	begin(FIB_WIRE_LIST);
	assert_int_equal(fib_wire_budget_frame(&budget, FIB_WIRE_FRAME_MAX), 0);
	fib_wire_budget_come(&budget, FIB_WIRE_IDLE_BYTES, now);
	assert_int_equal(fib_wire_budget_frame(&budget, 0), 0);
	fib_wire_budget_come(&budget, 1, now);
	assert_int_equal(fib_wire_budget_frame(&budget, 0), -ETIME);
	fib_wire_budget_news(&budget, 1);
	assert_int_equal(fib_wire_budget_frame(&budget, 0), 0);
}

/* A million fibers of a program that uses every CPU: 3,900 pieces of 256 records, 2.2 ms each. */
static void test_budget_of_counters_goes_on_with_the_walk(void **state)
{
	struct fib_wire_still still = {0, 1000000};

	(void)state;
	begin(FIB_WIRE_COUNTERS);
	for (still.done = 64000; still.done < still.all; still.done += 64000) {
		assert_int_equal(wait_for(500 * MS), 0);
		fib_wire_budget_still(&budget, &still, sizeof still);
	}
	/* Larger steps are accepted too, as when the answer is one of many. */
	fib_wire_budget_begin(&budget, FIB_WIRE_COUNTERS, SECOND, now);
	for (still.done = 64000; still.done < still.all; still.done += 64000) {
		assert_int_equal(wait_for(500 * MS), 0);
		fib_wire_budget_still(&budget, &still, sizeof still);
	}
}

static void test_budget_of_counters_ends_with_any_claim(void **state)
{
	static const uint64_t steps[] = {0, 1, 1000, 1 << 20, 1 << 30};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		begin(FIB_WIRE_COUNTERS);
		assert_in_range(until_claims_end(steps[i], UINT64_C(1) << 34), TIMEOUT,
				TIMEOUT + FIB_WIRE_WALK + SECOND);
		begin(FIB_WIRE_SHOW);
		assert_in_range(until_claims_end(steps[i], UINT64_C(1) << 34), FIB_WIRE_PATIENCE,
				FIB_WIRE_PATIENCE + FIB_WIRE_WALK + SECOND);
	}
	begin(FIB_WIRE_COUNTERS);
	until_claims_end(UINT64_C(1) << 60, UINT64_MAX);
	assert_int_equal(budget.place, 0);
}

/* The total moves with the place: no place is counted twice. */
static void test_budget_sells_each_place_once(void **state)
{
	const int64_t began = SECOND;
	struct fib_wire_still still = {0, 0};
	unsigned i;

	(void)state;
	begin(FIB_WIRE_COUNTERS);
	for (i = 1; wait_for(200 * MS) == 0; i++) {
		still.done = i;
		still.all = i % 2 ? 2 * i : i;
		fib_wire_budget_still(&budget, &still, sizeof still);
	}
	assert_in_range(now - began, TIMEOUT, TIMEOUT + FIB_WIRE_WALK + SECOND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_budget_of_a_small_answer_is_a_second_whatever_comes),
		cmocka_unit_test(test_budget_tells_silence_from_an_answer_without_end),
		cmocka_unit_test(test_budget_is_no_more_than_the_callers_patience),
		cmocka_unit_test(test_budget_of_a_large_answer_ends_without_anything_new),
		cmocka_unit_test(test_budget_of_a_large_answer_goes_on_with_what_is_new),
		cmocka_unit_test(test_budget_of_a_large_answer_ends_when_it_drips),
		cmocka_unit_test(test_budget_saves_no_more_than_the_patience),
		cmocka_unit_test(test_budget_of_any_answer_ends_in_the_end),
		cmocka_unit_test(test_budget_of_bytes),
		cmocka_unit_test(test_budget_of_counters_goes_on_with_the_walk),
		cmocka_unit_test(test_budget_of_counters_ends_with_any_claim),
		cmocka_unit_test(test_budget_sells_each_place_once),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
