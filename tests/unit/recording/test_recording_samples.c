/* SPDX-License-Identifier: MIT */
/* test_recording_samples.c - find samples by fiber and time, also stacks of older recordings */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/inspect/recordings.h"
#include "tests/harness/watchdog.h"

static void test_samples_are_in_order_and_found_by_time(void **state)
{
	struct made m = made_begin("samples.rec", 1000);
	struct ins_recording *r;

	(void)state;
	made_sample(&m, 7, 1, 500, 0, FIB_WAIT_PARK, 0);
	made_sample(&m, 9, 2, 100, 0, FIB_WAIT_PARK, 0);
	made_sample(&m, 7, 2, 100, 0, FIB_WAIT_PARK, 0);
	ins_recording_put_text(m.w, FIB_RECORDING_SHAPES, 1, "run;one");
	ins_recording_put_text(m.w, FIB_RECORDING_SHAPES, 2, "run;two");
	r = made_end(&m);
	assert_int_equal(r->samples, 3);
	assert_int_equal(r->looks, 3);
	assert_int_equal(r->look[0].from, BEGAN + 100);
	assert_int_equal(r->look[2].from, BEGAN + 500);
	assert_int_equal(ins_recording_samples_of(r, 7, 0), 0);
	assert_string_equal(ins_recording_shape(r, r->sample[0].stack), "run;two");
	assert_int_equal(ins_recording_samples_of(r, 7, BEGAN + 110), 0);
	assert_int_equal(ins_recording_samples_of(r, 7, BEGAN + 111), 1);
	assert_string_equal(ins_recording_shape(r, r->sample[1].stack), "run;one");
	assert_int_equal(ins_recording_samples_of(r, 7, BEGAN + 511), 2);
	assert_int_equal(ins_recording_samples_of(r, 8, 0), 2);
	assert_int_equal(ins_recording_samples_of(r, 10, 0), 3);
	assert_null(ins_recording_shape(r, 3));
	ins_recording_close(r);
}

static void test_stacks_of_an_older_recording_are_samples_of_its_end(void **state)
{
	struct made m = made_begin("older.rec", 1000);
	const struct fib_recording_fiber last[] = {
		{.id = 5, .seen = BEGAN + 900, .state = FIBER_RUNNABLE},
		{.id = 6,
		 .since = BEGAN + 20,
		 .seen = BEGAN + 900,
		 .state = FIBER_SUSPENDED,
		 .wait_kind = FIB_WAIT_FD,
		 .wait_arg = UINT64_C(1) << 32 | 17},
	};
	struct ins_recording *r;

	(void)state;
	ins_recording_put(m.w, FIB_RECORDING_LAST, last, sizeof last);
	ins_recording_put_text(m.w, FIB_RECORDING_STACKS, 6, "run;fiber_read");
	r = made_end(&m);
	assert_int_equal(r->looks, 1);
	assert_int_equal(r->samples, 1);
	assert_int_equal(r->sample[0].fiber, 6);
	assert_int_equal(r->sample[0].since, BEGAN + 20);
	assert_int_equal(r->sample[0].from, BEGAN + 900);
	assert_int_equal(r->sample[0].to, BEGAN + 1000);
	assert_string_equal(ins_recording_shape(r, r->sample[0].stack), "run;fiber_read");
	ins_recording_close(r);
}

static void test_recording_without_stacks_has_no_look(void **state)
{
	struct made m = made_begin("none.rec", 1000);
	struct ins_recording *r = made_end(&m);

	(void)state;
	assert_int_equal(r->looks, 0);
	assert_int_equal(r->samples, 0);
	assert_int_equal(ins_recording_samples_of(r, 1, 0), 0);
	ins_recording_close(r);
}

static void test_waits_are_the_same_if_they_are_for_the_same(void **state)
{
	(void)state;
	assert_true(ins_recording_same_wait(FIB_WAIT_MUTEX, 5, 99, FIB_WAIT_MUTEX, 5, 0));
	assert_false(ins_recording_same_wait(FIB_WAIT_MUTEX, 5, 0, FIB_WAIT_MUTEX, 6, 0));
	assert_false(ins_recording_same_wait(FIB_WAIT_MUTEX, 5, 0, FIB_WAIT_COND, 5, 0));
	assert_true(ins_recording_same_wait(FIB_WAIT_JOIN, 0, 41, FIB_WAIT_JOIN, 41, 41));
	assert_false(ins_recording_same_wait(FIB_WAIT_JOIN, 0, 41, FIB_WAIT_JOIN, 42, 42));
	assert_true(
		ins_recording_same_wait(FIB_WAIT_FD, 0, UINT64_C(4) << 32 | 7, FIB_WAIT_FD, 0, 7));
	assert_false(ins_recording_same_wait(FIB_WAIT_FD, 0, 8, FIB_WAIT_FD, 0, 7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples_are_in_order_and_found_by_time),
		cmocka_unit_test(test_stacks_of_an_older_recording_are_samples_of_its_end),
		cmocka_unit_test(test_recording_without_stacks_has_no_look),
		cmocka_unit_test(test_waits_are_the_same_if_they_are_for_the_same),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
