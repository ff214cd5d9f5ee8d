/* SPDX-License-Identifier: MIT */
/* test_reading.c - a read counts each fiber once, stays in its budget, reports a missing fiber */
#include <errno.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/source/reading.h"

static struct ins_summary summary;
static struct ins_reading reading;
static unsigned called;

static int take(void *context, const struct ins_fiber *fiber)
{
	called++;
	return (int)fiber->row.id + *(const int *)context;
}

static void test_what_is_spent_is_gone(void **state)
{
	uint64_t left = 100;

	(void)state;
	assert_true(ins_reading_spend(&left, 60));
	assert_false(ins_reading_spend(&left, 41));
	assert_int_equal(left, 40);
	assert_true(ins_reading_spend(&left, 40));
	assert_int_equal(left, 0);
}

static void test_each_fiber_is_counted_once(void **state)
{
	const struct ins_request one = {.id = 7};
	const struct fib_row other = {.id = 8};
	const struct ins_fiber wanted = {.row.id = 7};
	int more = 5;

	(void)state;
	summary = (struct ins_summary){0};
	ins_reading_begin(&reading, &one, take, &more, &summary);
	assert_false(ins_reading_wants(&reading, &other));
	assert_true(ins_reading_wants(&reading, &wanted.row));
	assert_int_equal(ins_reading_emit(&reading, &wanted), 12);
	assert_int_equal(called, 1);
	assert_int_equal(summary.total, 2);
	assert_int_equal(summary.shown, 1);
}

static void test_a_fiber_that_does_not_exist_is_an_error(void **state)
{
	const struct ins_request one = {.id = 7}, all = {0};
	struct ins_source source = {.pid = 12};
	struct ins_error error;

	(void)state;
	summary = (struct ins_summary){0};
	ins_reading_begin(&reading, &one, take, NULL, &summary);
	assert_int_equal(ins_reading_end(&reading, &source, true, 0, &error), -ESRCH);
	assert_string_equal(error.text, "fiber 7: no such fiber in the core");
	assert_int_equal(ins_reading_end(&reading, &source, false, 0, &error), -ESRCH);
	assert_string_equal(error.text, "fiber 7: no such fiber in process 12");
	assert_int_equal(ins_reading_end(&reading, &source, true, 3, &error), 3);
	ins_reading_begin(&reading, &all, take, NULL, &summary);
	assert_int_equal(ins_reading_end(&reading, &source, true, 0, &error), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_spent_is_gone),
		cmocka_unit_test(test_each_fiber_is_counted_once),
		cmocka_unit_test(test_a_fiber_that_does_not_exist_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
