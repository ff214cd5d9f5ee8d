/* SPDX-License-Identifier: MIT */
/* test_longrun_ring.c - the last events are kept, and one line a second is printed about them */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/paths.h"
#include "tests/harness/watchdog.h"
#include "watch/longrun_ring.h"

#define SECOND INT64_C(1000000000)

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
	e->duration = 21 * SECOND / 1000;
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

/* Return what fib_longrun_report() prints at that time. */
static const char *report(int64_t now)
{
	static char text[1024];
	int fds[2], kept = dup(STDERR_FILENO);
	ssize_t n;

	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	dup2(fds[1], STDERR_FILENO);
	fib_longrun_report(now);
	dup2(kept, STDERR_FILENO);
	n = read(fds[0], text, sizeof text - 1);
	text[n > 0 ? n : 0] = 0;
	close(kept);
	close(fds[0]);
	close(fds[1]);
	return text;
}

static void test_at_most_one_line_a_second_is_printed(void **state)
{
	(void)state;
	assert_string_equal(report(100 * SECOND), "");
	add(12, FIB_LONGRUN_COMPUTES);
	assert_string_equal(report(100 * SECOND),
			    "libfiber: fiber 12 \"name-12\" holds carrier 0 for 21 ms and more, "
			    "computing (1 since the last line)\n");
	add(13, FIB_LONGRUN_COMPUTES);
	add(14, FIB_LONGRUN_CALLS);
	assert_string_equal(report(100 * SECOND + SECOND / 2), "");
	assert_string_equal(report(101 * SECOND),
			    "libfiber: fiber 14 \"name-14\" holds carrier 0 for 21 ms and more, in "
			    "a system call (2 since the last line)\n");
	assert_string_equal(report(103 * SECOND), "");
}

static void test_waits_that_have_a_line_of_their_own_get_none(void **state)
{
	(void)state;
	add(15, FIB_LONGRUN_WAITS);
	assert_string_equal(report(200 * SECOND), "");
	add(16, FIB_LONGRUN_COMPUTES);
	add(17, FIB_LONGRUN_WAITS);
	assert_non_null(strstr(report(201 * SECOND), "fiber 16 "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_the_last_events_are_there_and_no_others, start),
		cmocka_unit_test_setup(test_a_new_event_has_nothing_of_the_one_before, start),
		cmocka_unit_test_setup(test_at_most_one_line_a_second_is_printed, start),
		cmocka_unit_test_setup(test_waits_that_have_a_line_of_their_own_get_none, start),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
