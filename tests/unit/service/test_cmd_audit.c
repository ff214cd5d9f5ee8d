/* SPDX-License-Identifier: MIT */
/* test_cmd_audit.c - the audit ring in an answer: the oldest first, and no more than there is */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "service/answer.h"
#include "service/audit.h"
#include "talk.h"
#include "tests/harness/watchdog.h"

static struct fib_wire_audit_entry entries[FIB_AUDIT_KEPT];

static struct fib_wire_audited ask(void)
{
	struct fib_wire_audited head = {0};
	struct fib_wire_end end;
	const char *payload;
	struct talk t;
	size_t length;

	fib_answer_introduce("unit", FIB_WIRE_RO);
	talk_begin(&t);
	talk_request(&t, FIB_WIRE_AUDIT, NULL, 0);
	talk_run(&t);
	payload = talk_find(&t, FIB_WIRE_AUDITED, &length);
	assert_non_null(payload);
	memcpy(&head, payload, sizeof head);
	assert_int_equal(head.entry_size, sizeof entries[0]);
	assert_int_equal(length, sizeof head + head.count * sizeof entries[0]);
	assert_true(head.count <= FIB_AUDIT_KEPT);
	memcpy(entries, payload + sizeof head, head.count * sizeof entries[0]);
	payload = talk_find(&t, FIB_WIRE_END, &length);
	assert_non_null(payload);
	memcpy(&end, payload, sizeof end);
	assert_int_equal(end.total, head.total);
	assert_int_equal(end.shown, head.count);
	talk_end(&t);
	return head;
}

static void test_audit_of_a_program_that_nobody_changed_is_empty(void **state)
{
	struct fib_wire_audited head;

	(void)state;
	fib_audit_forget();
	head = ask();
	assert_int_equal(head.total, 0);
	assert_int_equal(head.count, 0);
}

static void test_audit_is_sent_oldest_first(void **state)
{
	const struct fib_peer peer = {.who = {.pid = 5, .uid = 6}};
	struct fib_wire_audited head;
	unsigned i;

	(void)state;
	fib_audit_forget();
	for (i = 1; i <= FIB_AUDIT_KEPT + 3; i++)
		fib_audit_fiber(&peer, FIB_WIRE_AUDIT_WAKE, i, NULL, 0);
	head = ask();
	assert_int_equal(head.total, FIB_AUDIT_KEPT + 3);
	assert_int_equal(head.count, FIB_AUDIT_KEPT);
	for (i = 0; i < head.count; i++) {
		assert_int_equal(entries[i].serial, i + 4);
		assert_int_equal(entries[i].fiber, i + 4);
		assert_int_equal(entries[i].pid, 5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_audit_of_a_program_that_nobody_changed_is_empty),
		cmocka_unit_test(test_audit_is_sent_oldest_first),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
