/* SPDX-License-Identifier: MIT */
/* test_wire.c - what both ends of the control protocol share */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "tests/harness/watchdog.h"
#include "wire/wire.h"

static void test_wire_header_is_taken_up_to_the_limit(void **state)
{
	struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_LIST, 100};

	(void)state;
	assert_int_equal(fib_wire_check(&h, 100), 0);
	assert_int_equal(fib_wire_check(&h, 99), -EMSGSIZE);
	h.length = UINT32_MAX;
	assert_int_equal(fib_wire_check(&h, FIB_WIRE_FRAME_MAX), -EMSGSIZE);
}

static void test_wire_header_of_anything_else_is_no_frame(void **state)
{
	struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION + 1, FIB_WIRE_LIST, 0};

	(void)state;
	assert_int_equal(fib_wire_check(&h, 100), -EPROTO);
	h.version = FIB_WIRE_VERSION;
	h.magic = 0;
	assert_int_equal(fib_wire_check(&h, 100), -EPROTO);
}

static void test_wire_folder_is_below_the_runtime_folder_or_tmp(void **state)
{
	char buf[64];

	(void)state;
	assert_int_equal(fib_wire_folder(buf, sizeof buf, "/run/user/7", 7), 17);
	assert_string_equal(buf, "/run/user/7/fiber");
	assert_true(fib_wire_folder(buf, sizeof buf, NULL, 7) > 0);
	assert_string_equal(buf, "/tmp/fiber-7");
	assert_true(fib_wire_folder(buf, sizeof buf, "", 7) > 0);
	assert_string_equal(buf, "/tmp/fiber-7");
	assert_true(fib_wire_folder(buf, sizeof buf, "run/user", 7) > 0);
	assert_string_equal(buf, "/tmp/fiber-7");
}

static void test_wire_folder_that_does_not_fit_is_an_error(void **state)
{
	char buf[8];

	(void)state;
	assert_int_equal(fib_wire_folder(buf, sizeof buf, "/run/user/7", 7), -ENAMETOOLONG);
}

static void test_wire_mark_is_told_from_times_that_are_none(void **state)
{
	static const uint64_t starts[] = {0, 1, 4242, 999999, 1000000, UINT64_MAX};
	unsigned taken = 0;

	(void)state;
	for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
		const uint32_t is = fib_wire_mark(starts[i]);

		assert_in_range(is, 1, 999999999);
		assert_true(fib_wire_marked(is));
		assert_false(fib_wire_marked(is ^ 1));
	}
	assert_int_not_equal(fib_wire_mark(4242), fib_wire_mark(4243));
	assert_false(fib_wire_marked(0));
	assert_false(fib_wire_marked(UINT32_MAX));
	/* One value in a thousand looks like a mark. */
	for (uint32_t ns = 0; ns < 1000000000; ns += 9973)
		taken += fib_wire_marked(ns);
	assert_in_range(taken, 50, 150);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wire_header_is_taken_up_to_the_limit),
		cmocka_unit_test(test_wire_header_of_anything_else_is_no_frame),
		cmocka_unit_test(test_wire_folder_is_below_the_runtime_folder_or_tmp),
		cmocka_unit_test(test_wire_folder_that_does_not_fit_is_an_error),
		cmocka_unit_test(test_wire_mark_is_told_from_times_that_are_none),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
