/* SPDX-License-Identifier: MIT */
/*
 * test_longrun_report.c - lines about long runs: one a second, one a minute for a place, with the
 * place
 *
 * The places are functions of this program. An event is in one if its pc is.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os/place.h"
#include "tests/harness/paths.h"
#include "tests/harness/watchdog.h"
#include "watch/longrun_report.h"
#include "watch/longrun_ring.h"

#define MS     INT64_C(1000000)
#define SECOND (1000 * MS)

/* Different code, so that the functions are not merged. */
static __attribute__((noipa)) unsigned long here(unsigned long n)
{
	return n * 3 + 1;
}

static __attribute__((noipa)) unsigned long there(unsigned long n)
{
	return n * 5 + 2;
}

typedef unsigned long place_fn(unsigned long n);

static int start(void **state)
{
	(void)state;
	fib_longrun_ring_clear();
	fib_longrun_report_clear();
	return fib_longrun_ring_map();
}

/* Record a run that delays other fibers. */
static struct fib_longrun_event *add(uint64_t fiber, enum fib_longrun_doing doing, place_fn *place,
				     int64_t now)
{
	struct fib_longrun_event *e = fib_longrun_ring_add();
	struct fib_os_pipe none = FIB_OS_NO_PIPE;

	e->fiber = fiber;
	e->doing = doing;
	e->duration = 21 * MS;
	e->context.pc = (uintptr_t)place;
	snprintf(e->name, sizeof e->name, "name-%d", (int)fiber);
	fib_longrun_report_add(e, now, &none);
	return e;
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

static void assert_line(const char *line, const char *pattern)
{
	if (fnmatch(pattern, line, 0))
		fail_msg("\"%s\" does not match \"%s\"", line, pattern);
}

/* What a line says of that place: "test_longrun_report+0x1234". */
static const char *text_of(place_fn *place)
{
	struct fib_os_pipe none = FIB_OS_NO_PIPE;
	static char text[96];
	struct fib_os_place found;

	assert_true(fib_os_place_find(&none, (uintptr_t)place, &found));
	snprintf(text, sizeof text, "%s+0x%llx", found.module, (unsigned long long)found.offset);
	return text;
}

static void test_a_line_names_the_place_and_the_first_how_to_silence_it(void **state)
{
	char wanted[512];

	(void)state;
	assert_string_equal(report(100 * SECOND), "");
	add(12, FIB_LONGRUN_COMPUTES, here, 100 * SECOND);
	snprintf(wanted, sizeof wanted,
		 "libfiber: fiber 12 \"name-12\" holds carrier 0 for 21 ms and more, computing at "
		 "%s; other fibers wait meanwhile: 'fiberctl slow %d' prints the stack, 'fiberctl "
		 "watchdog %d TIME|off' or the option long_run_ns sets the limit\n",
		 text_of(here), (int)getpid(), (int)getpid());
	assert_string_equal(report(100 * SECOND), wanted);
	add(13, FIB_LONGRUN_CALLS, there, 101 * SECOND);
	snprintf(wanted, sizeof wanted,
		 "libfiber: fiber 13 \"name-13\" holds carrier 0 for 21 ms and more, in a system "
		 "call at %s\n",
		 text_of(there));
	assert_string_equal(report(101 * SECOND), wanted);
}

static void test_at_most_one_line_a_second_is_printed_and_no_place_is_lost(void **state)
{
	(void)state;
	add(12, FIB_LONGRUN_COMPUTES, here, 100 * SECOND);
	add(13, FIB_LONGRUN_COMPUTES, there, 100 * SECOND);
	assert_line(report(100 * SECOND), "*fiber 12 *");
	assert_string_equal(report(101 * SECOND - 1), "");
	assert_line(report(101 * SECOND), "*fiber 13 *");
	assert_string_equal(report(200 * SECOND), "");
}

static void test_a_place_has_at_most_one_line_a_minute(void **state)
{
	int i;

	(void)state;
	add(12, FIB_LONGRUN_COMPUTES, here, 100 * SECOND);
	assert_line(report(100 * SECOND), "*fiber 12 *");
	/* Another fiber, another instruction of the same function, and not computing. */
	for (i = 1; i < 60; i++) {
		add(13, FIB_LONGRUN_CALLS, (place_fn *)((uintptr_t)here + 1), (100 + i) * SECOND);
		assert_string_equal(report((100 + i) * SECOND), "");
	}
	/* Another place is not muted. */
	add(14, FIB_LONGRUN_COMPUTES, there, 159 * SECOND);
	assert_line(report(159 * SECOND), "*fiber 14 *");
	add(15, FIB_LONGRUN_COMPUTES, here, 160 * SECOND);
	assert_line(report(160 * SECOND), "*fiber 15 * computing at * (59 more there since the "
					  "last line)\n");
	add(16, FIB_LONGRUN_COMPUTES, here, 220 * SECOND);
	assert_line(report(220 * SECOND), "*fiber 16 *[!)]\n");
}

static void test_an_unknown_place_is_that_of_the_fibers_function(void **state)
{
	struct fib_os_pipe none = FIB_OS_NO_PIPE;
	struct fib_longrun_event *e = fib_longrun_ring_add();
	char wanted[256];

	(void)state;
	e->fiber = 1;
	e->doing = FIB_LONGRUN_COMPUTES;
	e->entry = (uintptr_t)here;
	fib_longrun_report_add(e, 100 * SECOND, &none);
	snprintf(wanted, sizeof wanted,
		 "libfiber: fiber 1 (%s) holds carrier 0 for 0 ms and more, computing; *",
		 text_of(here));
	assert_line(report(100 * SECOND), wanted);
	*(e = fib_longrun_ring_add()) = *fib_longrun_ring_at(0);
	fib_longrun_report_add(e, 102 * SECOND, &none);
	assert_string_equal(report(102 * SECOND), "");
	e->entry = (uintptr_t)there;
	fib_longrun_report_add(e, 102 * SECOND, &none);
	assert_line(report(102 * SECOND), "*fiber 1 *");
}

/* Each event is an unknown place of its own; at one line a second 60 lines go out in a minute. */
static void test_more_places_than_the_table_has_are_limited_too(void **state)
{
	struct fib_os_pipe none = FIB_OS_NO_PIPE;
	struct fib_longrun_event *e;
	int64_t second;
	unsigned i, lines = 0;

	(void)state;
	for (second = 0; second < 60; second++) {
		for (i = 0; i < 100; i++) {
			e = fib_longrun_ring_add();
			e->entry = 1000 + i;
			fib_longrun_report_add(e, second * SECOND, &none);
		}
		lines += *report(second * SECOND) != 0;
		assert_string_equal(report(second * SECOND + MS), "");
	}
	assert_in_range(lines, 1, 60);
	/* Those that still wait are printed; a minute later another place has room. */
	for (second = 60; *report(second * SECOND); second++)
		;
	assert_in_range(second, 60, 130);
	e = fib_longrun_ring_add();
	e->entry = 7;
	fib_longrun_report_add(e, 200 * SECOND, &none);
	assert_line(report(200 * SECOND), "*holds carrier*");
}

/* The others are counted where the fiber's function was last seen. */
static void test_places_are_found_a_few_times_a_second(void **state)
{
	int i;

	(void)state;
	add(12, FIB_LONGRUN_COMPUTES, here, 100 * SECOND);
	assert_line(report(100 * SECOND), "*fiber 12 *");
	for (i = 0; i < 99; i++)
		add(13, FIB_LONGRUN_COMPUTES, here, 101 * SECOND);
	add(14, FIB_LONGRUN_COMPUTES, there, 101 * SECOND);
	assert_string_equal(report(101 * SECOND), "");
	add(15, FIB_LONGRUN_COMPUTES, there, 102 * SECOND);
	assert_line(report(102 * SECOND), "*fiber 15 *[!)]\n");
	add(16, FIB_LONGRUN_COMPUTES, here, 160 * SECOND);
	assert_line(report(160 * SECOND), "*fiber 16 * (100 more there since the last line)\n");
}

static void test_waits_that_have_a_line_of_their_own_get_none(void **state)
{
	(void)state;
	add(15, FIB_LONGRUN_WAITS, here, 200 * SECOND);
	assert_string_equal(report(200 * SECOND), "");
	add(16, FIB_LONGRUN_COMPUTES, here, 200 * SECOND);
	add(17, FIB_LONGRUN_WAITS, there, 200 * SECOND);
	assert_line(report(201 * SECOND), "*fiber 16 *");
	assert_string_equal(report(203 * SECOND), "");
}

static void test_an_event_that_left_the_ring_gets_no_line(void **state)
{
	unsigned i;

	(void)state;
	add(15, FIB_LONGRUN_COMPUTES, here, 200 * SECOND);
	for (i = 0; i < FIB_LONGRUN_EVENTS; i++)
		fib_longrun_ring_add();
	assert_string_equal(report(200 * SECOND), "");
	add(16, FIB_LONGRUN_COMPUTES, here, 200 * SECOND);
	assert_line(report(200 * SECOND), "*fiber 16 *");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_line_names_the_place_and_the_first_how_to_silence_it,
				       start),
		cmocka_unit_test_setup(
			test_at_most_one_line_a_second_is_printed_and_no_place_is_lost, start),
		cmocka_unit_test_setup(test_a_place_has_at_most_one_line_a_minute, start),
		cmocka_unit_test_setup(test_an_unknown_place_is_that_of_the_fibers_function, start),
		cmocka_unit_test_setup(test_more_places_than_the_table_has_are_limited_too, start),
		cmocka_unit_test_setup(test_places_are_found_a_few_times_a_second, start),
		cmocka_unit_test_setup(test_waits_that_have_a_line_of_their_own_get_none, start),
		cmocka_unit_test_setup(test_an_event_that_left_the_ring_gets_no_line, start),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
