/* SPDX-License-Identifier: MIT */
/* test_cmd_hello.c - identify the process */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "records.h"
#include "service/answer.h"
#include "talk.h"
#include "tests/harness/watchdog.h"
#include "watch/tick.h"

static void test_hello_says_who_is_there_and_nothing_about_fibers(void **state)
{
	struct fiber *one = record_make("one", 0, 0), *two = record_make("two", 0, 0);
	const struct fib_wire_process *p;
	const void *payload = NULL;
	struct talk t;
	size_t length;

	(void)state;
	fib_answer_introduce("greeter", FIB_WIRE_RO);
	talk_begin(&t);
	talk_request(&t, FIB_WIRE_HELLO, NULL, 0);
	talk_run(&t);
	assert_int_equal(talk_frame(&t, &payload, &length), FIB_WIRE_PROCESS);
	p = payload;
	assert_int_equal(p->pid, getpid());
	assert_int_equal(p->mode, FIB_WIRE_RO);
	assert_int_equal(p->fibers, 2);
	assert_int_equal(p->carriers, fib_tick_carriers());
	assert_string_equal(p->name, "greeter");
	assert_int_equal(talk_frame(&t, &payload, &length), FIB_WIRE_END);
	assert_int_equal(talk_frame(&t, &payload, &length), 0);
	talk_end(&t);
	record_end(two);
	record_end(one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hello_says_who_is_there_and_nothing_about_fibers),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
