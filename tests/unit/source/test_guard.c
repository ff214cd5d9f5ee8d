/* SPDX-License-Identifier: MIT */
/* test_guard.c - the guard has the size that the program says, and ends at address 0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "inspect/source/guard.h"

#define LOW	 UINT64_C(0x7000000)
#define NO_FIELD 0

static struct fib_layout layout;
static unsigned char record[8];

static void says(uint16_t size, uint16_t units)
{
	memset(&layout, 0, sizeof layout);
	layout.field_count = FIB_FIELD_COUNT;
	layout.fields[FIB_FIELD_GUARD].offset = 4;
	layout.fields[FIB_FIELD_GUARD].size = size;
	memcpy(record + 4, &units, sizeof units);
}

static void test_guard_is_what_the_program_says(void **state)
{
	(void)state;
	says(2, 16);
	assert_int_equal(ins_guard_bytes(&layout, record, LOW), 64 << 10);
	says(2, 1);
	assert_int_equal(ins_guard_bytes(&layout, record, LOW), 4096);
	says(2, 16384);
	assert_int_equal(ins_guard_bytes(&layout, record, LOW << 8), 64 << 20);
}

static void test_guard_that_is_not_said_is_16_kib(void **state)
{
	(void)state;
	says(NO_FIELD, 16);
	assert_int_equal(ins_guard_bytes(&layout, record, LOW), 16 << 10);
	says(2, 0);
	assert_int_equal(ins_guard_bytes(&layout, record, LOW), 16 << 10);
}

static void test_guard_ends_at_address_0(void **state)
{
	(void)state;
	says(2, 0xffff);
	assert_int_equal(ins_guard_bytes(&layout, record, 0x1000), 0x1000);
	assert_int_equal(ins_guard_bytes(&layout, record, 0), 0);
}

static void test_guard_reaches_from_its_low_end_to_the_top(void **state)
{
	const struct fib_row row = {.stack_low = LOW, .stack_size = 0x10000};

	(void)state;
	says(2, 2);
	assert_false(ins_guard_reaches(&layout, record, &row, LOW - 8193));
	assert_true(ins_guard_reaches(&layout, record, &row, LOW - 8192));
	assert_true(ins_guard_reaches(&layout, record, &row, LOW));
	assert_true(ins_guard_reaches(&layout, record, &row, LOW + 0xffff));
	assert_false(ins_guard_reaches(&layout, record, &row, LOW + 0x10000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guard_is_what_the_program_says),
		cmocka_unit_test(test_guard_that_is_not_said_is_16_kib),
		cmocka_unit_test(test_guard_ends_at_address_0),
		cmocka_unit_test(test_guard_reaches_from_its_low_end_to_the_top),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
