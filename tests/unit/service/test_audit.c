/* SPDX-License-Identifier: MIT */
/* test_audit.c - the audit ring keeps the latest changes, each with its author and result */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include "os/os.h"
#include "service/audit.h"
#include "tests/harness/watchdog.h"

static const struct fib_peer peer = {.who = {.pid = 77, .uid = 1000}};

static int setup(void **state)
{
	(void)state;
	fib_audit_forget();
	return 0;
}

static void test_audit_keeps_who_what_and_what_came_of_it(void **state)
{
	const struct fib_wire_audit_entry *e;
	const int64_t before = fib_os_now(), wall = fib_os_wall();

	(void)state;
	fib_audit(&peer, FIB_WIRE_AUDIT_THRESHOLD, 20, 30, 0);
	fib_audit_fiber(&peer, FIB_WIRE_AUDIT_CANCEL, 4711, NULL, -EPERM);
	e = fib_audit_entry(1);
	assert_int_equal(e->serial, 1);
	assert_int_equal(e->pid, 77);
	assert_int_equal(e->uid, 1000);
	assert_int_equal(e->what, FIB_WIRE_AUDIT_THRESHOLD);
	assert_int_equal(e->before, 20);
	assert_int_equal(e->after, 30);
	assert_int_equal(e->result, 0);
	assert_int_equal(e->fiber, 0);
	assert_true(e->when >= before && e->when <= fib_os_now());
	assert_true(e->wall >= wall - INT64_C(1000000000));
	e = fib_audit_entry(2);
	assert_int_equal(e->what, FIB_WIRE_AUDIT_CANCEL);
	assert_int_equal(e->fiber, 4711);
	assert_int_equal(e->result, -EPERM);
	assert_null(fib_audit_entry(0));
	assert_null(fib_audit_entry(3));
}

static void test_audit_keeps_the_last_and_counts_all(void **state)
{
	uint64_t i;

	(void)state;
	for (i = 1; i <= FIB_AUDIT_KEPT + 5; i++)
		fib_audit(&peer, FIB_WIRE_AUDIT_POLICY, i, i + 1, 0);
	assert_int_equal(fib_audit_total(), FIB_AUDIT_KEPT + 5);
	assert_null(fib_audit_entry(5));
	for (i = 6; i <= FIB_AUDIT_KEPT + 5; i++) {
		assert_int_equal(fib_audit_entry(i)->serial, i);
		assert_int_equal(fib_audit_entry(i)->before, i);
	}
	fib_audit_forget();
	assert_null(fib_audit_entry(FIB_AUDIT_KEPT));
	assert_int_equal(fib_audit_total(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_audit_keeps_who_what_and_what_came_of_it, setup),
		cmocka_unit_test_setup(test_audit_keeps_the_last_and_counts_all, setup),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
