/* SPDX-License-Identifier: MIT */
/* test_lost_before.c - which fibers wait as before, and which of two readings is older */
#include "inspect/leaks/lost_before.h"

#include "tests/harness/inspect/head.h"
#include "tests/harness/inspect/rows.h"

#define SECOND INT64_C(1000000000)

static struct ins_source source;
static struct ins_fiber fiber;
static int64_t taken;
static struct ins_table *before, *core;
static struct ins_error error;

static int read_one(struct ins_source *s, const struct ins_request *request, ins_fiber_fn *fn,
		    void *context, struct ins_summary *ret, struct ins_error *e)
{
	(void)s;
	(void)request;
	(void)e;
	ret->taken = taken;
	ret->shown = ret->total = 1;
	return fn(context, &fiber);
}

static const struct ins_source_ops ops = {.read = read_one};

static struct ins_table *table_of(const struct ins_fiber *one)
{
	const struct ins_request request = {.modules = true};
	struct ins_table *ret;

	fiber = *one;
	source.ops = &ops;
	assert_int_equal(ins_table_read(&source, &request, &error, &ret), 0);
	return ret;
}

static struct ins_fiber waiter(void)
{
	struct ins_fiber ret = rows_fiber(7, "seven");

	ret.row.wait_kind = FIB_WAIT_SEM;
	ret.row.wait_object = 0x1000;
	return ret;
}

static bool waited(const struct ins_fiber *then, const struct ins_fiber *now)
{
	bool ret;

	before = table_of(then);
	ret = ins_lost_before_waited(before, now);
	ins_table_free(before);
	return ret;
}

static void test_the_same_wait_is_recognized_at_any_age(void **state)
{
	const struct ins_fiber now = waiter();
	struct ins_fiber then = now;

	(void)state;
	assert_true(waited(&then, &now));
	then.now -= SECOND;
	then.row.age -= SECOND;
	assert_true(waited(&then, &now));
}

static void test_another_fiber_object_wait_or_time_is_not(void **state)
{
	const struct ins_fiber now = waiter();
	struct ins_fiber then = now;

	(void)state;
	then.row.id = 8; /* another generation has another id */
	assert_false(waited(&then, &now));
	then = now;
	then.row.seq -= 2;
	assert_false(waited(&then, &now));
	then = now;
	then.row.wait_object = 0x1008;
	assert_false(waited(&then, &now));
	then = now;
	then.row.wait_kind = FIB_WAIT_EVENT;
	assert_false(waited(&then, &now));
	/* Another run of a program that does the same. */
	then = now;
	then.now -= SECOND;
	assert_false(waited(&then, &now));
}

static bool younger(const struct ins_fiber *then, const struct ins_fiber *now, int64_t written)
{
	bool ret;

	taken = 100 * SECOND;
	before = table_of(then);
	taken = 0;
	core = table_of(now);
	ret = ins_lost_before_is_younger(before, core, written);
	ins_table_free(before);
	ins_table_free(core);
	return ret;
}

static void test_a_later_clock_of_the_core_is_proof_that_it_is_younger(void **state)
{
	const struct ins_fiber now = waiter();
	struct ins_fiber then = now;

	(void)state;
	then.now--;
	assert_false(younger(&then, &now, 99 * SECOND));
}

static void test_with_an_earlier_clock_the_file_or_a_fiber_tells_that_it_is_older(void **state)
{
	const struct ins_fiber now = waiter();
	struct ins_fiber then = now;

	(void)state;
	then.now += SECOND;
	then.row.age += SECOND;
	/* Nothing has run: the process was at rest. */
	assert_false(younger(&then, &now, 101 * SECOND));
	assert_false(younger(&then, &now, 0));
	assert_true(younger(&then, &now, 99 * SECOND));
	then.row.seq += 2;
	assert_true(younger(&then, &now, 101 * SECOND));
	/* A fiber that the core does not have. */
	then.row.id = 8;
	assert_false(younger(&then, &now, 101 * SECOND));
	then.row.age = 0;
	assert_true(younger(&then, &now, 101 * SECOND));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_same_wait_is_recognized_at_any_age),
		cmocka_unit_test(test_another_fiber_object_wait_or_time_is_not),
		cmocka_unit_test(test_a_later_clock_of_the_core_is_proof_that_it_is_younger),
		cmocka_unit_test(
			test_with_an_earlier_clock_the_file_or_a_fiber_tells_that_it_is_older),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
