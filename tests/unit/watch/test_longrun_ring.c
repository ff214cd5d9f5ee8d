/* SPDX-License-Identifier: MIT */
/* test_longrun_ring.c - the last events are kept */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "tests/harness/watchdog.h"
#include "watch/longrun_ring.h"

static int start(void **state)
{
	(void)state;
	fib_longrun_ring_clear();
	return fib_longrun_ring_map();
}

static struct fib_longrun_event *add(uint64_t fiber, enum fib_longrun_doing doing)
{
	struct fib_longrun_event *e = fib_longrun_ring_add();

	e->fiber = fiber;
	e->doing = doing;
	e->duration = 21000000;
	snprintf(e->name, sizeof e->name, "name-%d", (int)fiber);
	return e;
}

static void test_the_last_events_are_there_and_no_others(void **state)
{
	uint64_t i;

	(void)state;
	assert_null(fib_longrun_event(0));
	for (i = 0; i < FIB_LONGRUN_EVENTS + 3; i++)
		assert_int_equal(add(1000 + i, FIB_LONGRUN_CALLS)->number, i);
	assert_int_equal(fib_longrun_recorded(), FIB_LONGRUN_EVENTS + 3);
	assert_null(fib_longrun_event(2));
	assert_int_equal(fib_longrun_event(3)->fiber, 1003);
	assert_int_equal(fib_longrun_event(i - 1)->fiber, 1000 + i - 1);
	assert_null(fib_longrun_event(i));
}

static void test_a_new_event_has_nothing_of_the_one_before(void **state)
{
	struct fib_longrun_event *e;
	unsigned i;

	(void)state;
	for (i = 0; i < FIB_LONGRUN_EVENTS; i++) {
		e = add(7, FIB_LONGRUN_WAITS);
		e->lasts = e->stack_size = 1;
	}
	e = fib_longrun_ring_add();
	assert_int_equal(e->fiber, 0);
	assert_int_equal(e->lasts, 0);
	assert_int_equal(e->stack_size, 0);
	assert_string_equal(e->name, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_the_last_events_are_there_and_no_others, start),
		cmocka_unit_test_setup(test_a_new_event_has_nothing_of_the_one_before, start),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
