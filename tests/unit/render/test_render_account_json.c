/* SPDX-License-Identifier: MIT */
/* test_render_account_json.c - the tables of a recording as JSON */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/inspect/accounted.h"
#include "inspect/render/render_account.h"
#include "tests/harness/watchdog.h"

static void test_json_has_every_row(void **state)
{
	json_t *totals = ins_account_totals(a), *waits = ins_account_waits(r, a, SIZE_MAX);
	json_t *functions = ins_account_functions(r, a, SIZE_MAX),
	       *stacks = ins_account_stacks(a, SIZE_MAX);
	json_t *carriers = ins_account_carriers(r, a), *row;

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(totals, "runningNs")), 1000);
	assert_int_equal(json_array_size(waits), 3);
	row = json_array_get(waits, 2);
	assert_string_equal(json_string_value(json_object_get(row, "kind")), "mutex");
	assert_string_equal(json_string_value(json_object_get(row, "object")), "0xabc");
	assert_string_equal(json_string_value(json_object_get(row, "objectName")), "lock");
	assert_true(json_is_null(json_object_get(row, "fd")));
	assert_true(json_is_null(json_object_get(row, "stack")));
	assert_int_equal(json_integer_value(json_object_get(row, "objects")), 1);
	assert_int_equal(json_integer_value(json_object_get(row, "medianNs")), 200);
	row = json_array_get(waits, 0);
	assert_string_equal(json_string_value(json_object_get(row, "stack")), "run;nap;fiber_park");
	assert_int_equal(json_integer_value(json_object_get(row, "sampledNs")), 450);
	assert_int_equal(json_integer_value(json_object_get(row, "objects")), 0);
	assert_int_equal(json_array_size(functions), 3);
	assert_true(json_is_null(json_object_get(json_array_get(functions, 0), "function")));
	assert_int_equal(json_array_size(stacks), 1);
	assert_int_equal(json_array_size(carriers), 2);
	json_decref(totals);
	json_decref(waits);
	json_decref(functions);
	json_decref(stacks);
	json_decref(carriers);
}

/* A row for several descriptors has no descriptor number. */
static void test_json_of_many_descriptors_names_none(void **state)
{
	const struct ins_waited row = {.kind = FIB_WAIT_FD,
				       .arg = 7,
				       .ways = FIB_EVENT_READ | FIB_EVENT_WRITE,
				       .objects = 12,
				       .waits = 30,
				       .cut = 2};
	struct ins_account one = {.waited = (struct ins_waited *)&row, .waiteds = 1};
	json_t *waits = ins_account_waits(r, &one, 1), *none = ins_account_waits(r, &one, 0), *at;

	(void)state;
	at = json_array_get(waits, 0);
	assert_true(json_is_null(json_object_get(at, "fd")));
	assert_string_equal(json_string_value(json_object_get(at, "events")), "read|write");
	assert_string_equal(json_string_value(json_object_get(at, "for")),
			    "fd read|write, 12 descriptors");
	assert_int_equal(json_integer_value(json_object_get(at, "cut")), 2);
	assert_int_equal(json_array_size(none), 0);
	json_decref(waits);
	json_decref(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_json_has_every_row, accounted_three,
						accounted_three_end),
		cmocka_unit_test_setup_teardown(test_json_of_many_descriptors_names_none,
						accounted_three, accounted_three_end),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
