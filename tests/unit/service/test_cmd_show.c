/* SPDX-License-Identifier: MIT */
/* test_cmd_show.c - show one fiber, or the error that there is none */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include "layout/row.h"
#include "records.h"
#include "talk.h"
#include "tests/harness/watchdog.h"

static struct talk t;

static int error_of(uint64_t id)
{
	const struct fib_wire_error *e;
	size_t length;
	int rc;

	talk_begin(&t);
	talk_request(&t, FIB_WIRE_SHOW, &id, sizeof id);
	talk_run(&t);
	e = talk_find(&t, FIB_WIRE_ERROR, &length);
	rc = e ? e->error : 0;
	talk_end(&t);
	return rc;
}

static void test_show_has_the_one_fiber_and_counts_all(void **state)
{
	struct fiber *one = record_make("one", 0, 0), *two = record_make("two", 0, 0);
	const unsigned char *payload;
	struct fib_wire_rows head;
	struct fib_wire_end end;
	struct fib_row row;
	uint64_t id = fiber_id(two);
	size_t length;

	(void)state;
	talk_begin(&t);
	talk_request(&t, FIB_WIRE_SHOW, &id, sizeof id);
	talk_run(&t);
	payload = talk_find(&t, FIB_WIRE_ROWS, &length);
	assert_non_null(payload);
	memcpy(&head, payload, sizeof head);
	memcpy(&row, payload + sizeof head, sizeof row);
	assert_int_equal(head.count, 1);
	assert_int_equal(row.id, id);
	assert_string_equal(row.name, "two");
	payload = talk_find(&t, FIB_WIRE_END, &length);
	assert_non_null(payload);
	memcpy(&end, payload, sizeof end);
	assert_int_equal(end.shown, 1);
	assert_int_equal(end.total, 2);
	talk_end(&t);
	record_end(two);
	assert_int_equal(error_of(id), -ESRCH); /* it has just exited */
	record_end(one);
}

static void test_show_of_no_such_fiber_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(error_of(UINT64_C(1) << 40), -ESRCH);
	assert_int_equal(error_of(0), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_show_has_the_one_fiber_and_counts_all),
		cmocka_unit_test(test_show_of_no_such_fiber_is_an_error),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
