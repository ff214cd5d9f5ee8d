/* SPDX-License-Identifier: MIT */
/* test_setting.c - read or change a setting: the right to do so, and the entry in the audit ring */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include "service/answer.h"
#include "service/audit.h"
#include "service/setting.h"
#include "talk.h"
#include "tests/harness/watchdog.h"

static int64_t value;
static struct talk t;
static int64_t before, now;

static int64_t current(void)
{
	return value;
}

static int64_t change(int64_t wanted)
{
	const int64_t was = value;

	if (was >= 0)
		value = wanted;
	return was;
}

static const struct fib_setting setting = {
	.what = FIB_WIRE_AUDIT_THRESHOLD,
	.leave = -7,
	.read = current,
	.change = change,
};

static int setup(void **state)
{
	(void)state;
	value = 5;
	fib_audit_forget();
	fib_answer_introduce("unit", FIB_WIRE_RW);
	talk_begin(&t);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	talk_end(&t);
	return 0;
}

/* Return the error that the peer received, 0 if none. */
static int told(void)
{
	struct fib_wire_error e = {0};
	const void *payload;
	size_t length;

	talk_run(&t);
	payload = talk_find(&t, FIB_WIRE_ERROR, &length);
	if (payload)
		memcpy(&e, payload, sizeof e);
	return e.error;
}

static void expect_entry(uint64_t was, uint64_t wanted, int result)
{
	const struct fib_wire_audit_entry *e = fib_audit_entry(fib_audit_total());

	assert_non_null(e);
	assert_int_equal(e->what, FIB_WIRE_AUDIT_THRESHOLD);
	assert_int_equal(e->before, was);
	assert_int_equal(e->after, wanted);
	assert_int_equal(e->result, result);
}

static void test_setting_is_read_by_everybody_and_that_is_no_change(void **state)
{
	(void)state;
	fib_answer_introduce("unit", FIB_WIRE_RO);
	assert_true(fib_setting_begin(&t.peer, &setting, -7));
	assert_true(fib_setting_apply(&t.peer, &setting, &before, &now));
	assert_int_equal(before, 5);
	assert_int_equal(now, 5);
	assert_int_equal(fib_audit_total(), 0);
	assert_int_equal(told(), 0);
}

static void test_setting_is_changed_read_back_and_audited(void **state)
{
	(void)state;
	assert_true(fib_setting_begin(&t.peer, &setting, 9));
	assert_true(fib_setting_apply(&t.peer, &setting, &before, &now));
	assert_int_equal(before, 5);
	assert_int_equal(now, 9);
	assert_int_equal(value, 9);
	assert_int_equal(fib_audit_total(), 1);
	expect_entry(5, 9, 0);
	assert_int_equal(told(), 0);
}

static void test_setting_is_not_changed_where_one_may_only_look(void **state)
{
	(void)state;
	fib_answer_introduce("unit", FIB_WIRE_RO);
	assert_false(fib_setting_begin(&t.peer, &setting, 9));
	assert_int_equal(value, 5);
	assert_int_equal(fib_audit_total(), 1);
	expect_entry(5, 9, -EPERM);
	assert_int_equal(told(), -EPERM);
}

static void test_setting_value_that_is_none_is_audited_as_refused(void **state)
{
	(void)state;
	assert_true(fib_setting_begin(&t.peer, &setting, 1000));
	fib_setting_refused(&t.peer, &setting);
	assert_int_equal(fib_audit_total(), 1);
	expect_entry(5, 1000, -EINVAL);
}

static void test_setting_without_a_runtime_says_so(void **state)
{
	(void)state;
	value = -ESRCH;
	assert_true(fib_setting_begin(&t.peer, &setting, 9));
	assert_false(fib_setting_apply(&t.peer, &setting, &before, &now));
	expect_entry(0, 9, -ESRCH);
	assert_int_equal(told(), -ESRCH);
	assert_true(fib_setting_begin(&t.peer, &setting, -7));
	assert_false(fib_setting_apply(&t.peer, &setting, &before, &now));
	assert_int_equal(fib_audit_total(), 1);
	assert_int_equal(told(), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_setting_is_read_by_everybody_and_that_is_no_change, setup, teardown),
		cmocka_unit_test_setup_teardown(test_setting_is_changed_read_back_and_audited,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_setting_is_not_changed_where_one_may_only_look,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_setting_value_that_is_none_is_audited_as_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_setting_without_a_runtime_says_so, setup,
						teardown),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
