/* SPDX-License-Identifier: MIT */
/* test_fiber_table.c - each fiber of a recording once, wherever it occurs */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "inspect/recording/fiber_table.h"
#include "tests/harness/inspect/recordings.h"
#include "tests/harness/watchdog.h"

static void test_lives_are_those_of_lists_and_events(void **state)
{
	struct ins_recording *r = made_three();
	struct ins_fiber_table lives;

	(void)state;
	assert_int_equal(ins_fiber_table_make(r, &lives), 0);
	assert_int_equal(lives.count, 3);
	assert_int_equal(lives.at[0].id, 1);
	assert_int_equal(lives.at[0].entry, 0x10);
	assert_ptr_equal(lives.at[0].first, &r->first[0]);
	assert_null(lives.at[0].last);
	assert_int_equal(lives.at[1].id, 2);
	assert_int_equal(lives.at[1].entry, 0x20);
	assert_null(lives.at[1].first);
	assert_ptr_equal(lives.at[1].last, &r->last[0]);
	assert_ptr_equal(ins_fiber_table_find(&lives, 3), &lives.at[2]);
	assert_null(ins_fiber_table_find(&lives, 0));
	assert_null(ins_fiber_table_find(&lives, 4));
	ins_fiber_table_free(&lives);
	ins_recording_close(r);
}

static void test_lives_of_nobody_are_none(void **state)
{
	struct made m = made_begin("nobody.rec", 10);
	struct ins_recording *r = made_end(&m);
	struct ins_fiber_table lives;

	(void)state;
	assert_int_equal(ins_fiber_table_make(r, &lives), 0);
	assert_int_equal(lives.count, 0);
	assert_null(ins_fiber_table_find(&lives, 1));
	ins_fiber_table_free(&lives);
	ins_recording_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lives_are_those_of_lists_and_events),
		cmocka_unit_test(test_lives_of_nobody_are_none),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
