/* SPDX-License-Identifier: MIT */
/* test_replay_holes.c - where events were lost, only what is certain is reported */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "replays.h"
#include "tests/harness/watchdog.h"

#define MS 1000000

/*
 * Fiber 1 ran until the last event before the hole. Fiber 3 was runnable and may have run in the
 * hole. The list at the end shows that fiber 4 has waited all the time. The other carrier's events
 * show what fiber 5 did.
 */
static void test_replay_says_only_what_is_certain_where_events_were_lost(void **state)
{
	struct made m = made_begin("hole.rec", 10000000);
	const struct fib_recording_fiber first[] = {
		{.id = 3, .since = BEGAN, .state = FIBER_RUNNABLE},
		{.id = 4, .since = BEGAN, .state = FIBER_SUSPENDED, .wait_kind = FIB_WAIT_PARK},
		{.id = 6, .since = BEGAN, .state = FIBER_RUNNABLE},
	};
	const struct fib_recording_fiber last[] = {
		{.id = 4,
		 .since = BEGAN,
		 .seen = BEGAN + 9000000,
		 .state = FIBER_SUSPENDED,
		 .wait_kind = FIB_WAIT_PARK},
	};
	const struct fib_event early[] = {
		made_event(FIB_EVENT_SPAWN, 5, 3),
		made_run(10, 1, FIB_EVENT_NOBODY, 0, 0),
		made_event(FIB_EVENT_STEAL, 40, 1),
	};
	const struct fib_event late[] = {made_run(60, 2, FIBER_SUSPENDED, FIB_WAIT_PARK, 0),
					 made_run(70, 6, FIBER_SUSPENDED, FIB_WAIT_PARK, 0)};
	const struct fib_event other[] = {made_run(10, 5, FIB_EVENT_NOBODY, 0, 0)};

	(void)state;
	ins_recording_put(m.w, FIB_RECORDING_FIBERS, first, sizeof first);
	made_ring(&m, 0, 0, early, 3);
	made_ring(&m, 0, 5, late, 2);
	made_ring(&m, 1, 0, other, 1);
	ins_recording_put(m.w, FIB_RECORDING_LAST, last, sizeof last);
	play(made_end(&m));
	assert_string_equal(told, "0 makes 3 at 5\n"
				  "1 runs 10-40 on 0 cut\n"
				  "3 runnable 5-40 cut\n"
				  "6 runnable 0-40 cut\n"
				  "2 runs 60-70 on 0\n"
				  "6 unknown 40-70\n"
				  /*
				   * Fibers 1 and 3 are not in the list at the end: they exited in
				   * the hole.
				   */
				  "1 unknown 40-60\n"
				  "2 waits 70-10000000 for 3:0 on and on\n"
				  "3 unknown 40-60\n"
				  "4 waits 0-10000000 for 3:0 on and on\n"
				  "5 runs 10-10000000 on 1 on and on\n"
				  "6 runs 70-10000000 on 0 on and on\n");
}

/*
 * Fiber 1 parks on carrier 0, which continues. Carrier 1 may have woken and run it: its events from
 * 30 to 60 ms are lost.
 */
static struct made parked(void)
{
	struct made m = made_begin("parked.rec", 100 * MS);
	const struct fib_event zero[] = {
		made_run(10 * MS, 1, FIB_EVENT_NOBODY, 0, 0),
		made_run(20 * MS, 2, FIBER_SUSPENDED, FIB_WAIT_PARK, 0),
	};
	const struct fib_event early[] = {made_run(30 * MS, 3, FIB_EVENT_NOBODY, 0, 0)};
	const struct fib_event late[] = {made_run(60 * MS, 4, FIB_EVENT_NOBODY, 0, 0)};

	made_ring(&m, 0, 0, zero, 2);
	made_ring(&m, 1, 0, early, 1);
	made_ring(&m, 1, 9, late, 1);
	return m;
}

static const struct fib_recording_fiber still[] = {
	{.id = 1,
	 .since = BEGAN + 85 * MS,
	 .seen = BEGAN + 90 * MS,
	 .state = FIBER_SUSPENDED,
	 .wait_kind = FIB_WAIT_PARK},
	{.id = 3, .since = BEGAN + 85 * MS, .seen = BEGAN + 90 * MS, .state = FIBER_SUSPENDED},
};

static void test_wait_whose_end_may_be_lost_is_not_counted_on(void **state)
{
	struct made m = parked();

	(void)state;
	/* At the end fiber 1 waits again. It has waited since 85 ms. */
	ins_recording_put(m.w, FIB_RECORDING_LAST, still, sizeof still);
	play(made_end(&m));
	assert_string_equal(told, "1 runs 10000000-20000000 on 0\n"
				  "1 waits 20000000-30000000 for 3:0 cut\n"
				  "3 runs 30000000-30000000 on 1 cut\n"
				  "1 unknown 30000000-100000000 on and on\n"
				  "2 runs 20000000-100000000 on 0 on and on\n"
				  "3 unknown 30000000-100000000 on and on\n"
				  "4 runs 60000000-100000000 on 1 on and on\n");
}

/*
 * A sample after the hole shows that the wait continues. A sample of another wait proves nothing.
 */
static void test_wait_that_was_seen_after_the_hole_goes_on(void **state)
{
	struct made m = parked();

	(void)state;
	made_sample(&m, 1, 1, 70 * MS, 19 * MS, FIB_WAIT_PARK, 0);
	ins_recording_put(m.w, FIB_RECORDING_LAST, still + 1, sizeof still[1]);
	play(made_end(&m));
	assert_non_null(strstr(told, "1 waits 20000000-100000000 for 3:0 on and on\n"));
	m = parked();
	made_sample(&m, 1, 1, 70 * MS, 19 * MS, FIB_WAIT_SLEEP, 0);
	ins_recording_put(m.w, FIB_RECORDING_LAST, still + 1, sizeof still[1]);
	play(made_end(&m));
	assert_non_null(strstr(told, "1 waits 20000000-30000000 for 3:0 cut\n"));
	m = parked();
	made_sample(&m, 1, 1, 70 * MS, 50 * MS, FIB_WAIT_PARK, 0);
	ins_recording_put(m.w, FIB_RECORDING_LAST, still + 1, sizeof still[1]);
	play(made_end(&m));
	assert_non_null(strstr(told, "1 waits 20000000-30000000 for 3:0 cut\n"));
	m = parked();
	made_sample(&m, 1, 1, 40 * MS, 19 * MS, FIB_WAIT_PARK, 0);
	ins_recording_put(m.w, FIB_RECORDING_LAST, still + 1, sizeof still[1]);
	play(made_end(&m));
	/* The sample was taken in the hole: the wait lasted at least until then. */
	assert_non_null(strstr(told, "1 waits 20000000-40000000 for 3:0 cut\n"
				     "3 runs"));
	assert_non_null(strstr(told, "1 unknown 40000000-60000000\n"));
}

/* The other carrier may take the fiber while its events are lost. */
static void test_what_begins_while_another_ring_is_lost_is_not_counted_on(void **state)
{
	struct made m = made_begin("during.rec", 100 * MS);
	const struct fib_event zero[] = {
		made_run(10 * MS, 1, FIB_EVENT_NOBODY, 0, 0),
		made_run(40 * MS, 0, FIBER_SUSPENDED, FIB_WAIT_PARK, 0),
		made_wake(50 * MS, 1, 9, FIB_WAIT_PARK),
		made_run(80 * MS, 1, FIB_EVENT_NOBODY, 0, 0),
	};
	const struct fib_event late[] = {made_run(60 * MS, 4, FIB_EVENT_NOBODY, 0, 0)};

	(void)state;
	made_ring(&m, 0, 0, zero, 4);
	made_ring(&m, 1, 9, late, 1);
	play(made_end(&m));
	assert_string_equal(told, "1 runs 10000000-40000000 on 0\n"
				  "1 waits 40000000-40000000 for 3:0 cut\n"
				  "9 wakes 1 at 50000000\n"
				  "1 unknown 40000000-50000000\n"
				  "1 runnable 50000000-50000000 cut\n"
				  "1 unknown 50000000-80000000\n"
				  "1 runs 80000000-100000000 on 0 on and on\n"
				  "4 runs 60000000-100000000 on 1 on and on\n");
}

/* No event ends the wait, because the carrier that ended it did not record yet. */
static void test_wait_that_was_seen_to_be_over_is_not_counted_on(void **state)
{
	struct made m = made_begin("unheard.rec", 100 * MS);
	const struct fib_event zero[] = {
		made_run(10 * MS, 1, FIB_EVENT_NOBODY, 0, 0),
		made_run(20 * MS, 0, FIBER_SUSPENDED, FIB_WAIT_MUTEX, 0xabc),
	};

	(void)state;
	made_ring(&m, 0, 0, zero, 2);
	made_sample(&m, 1, 1, 30 * MS, 20 * MS, FIB_WAIT_MUTEX, 0xabc);
	made_sample(&m, 1, 1, 50 * MS, 45 * MS, FIB_WAIT_FD, 7);
	made_sample(&m, 1, 1, 70 * MS, 45 * MS, FIB_WAIT_FD, 7);
	play(made_end(&m));
	assert_string_equal(told, "1 runs 10000000-20000000 on 0\n"
				  "1 waits 20000000-30000000 for 6:abc cut\n"
				  "1 unknown 30000000-50000000\n"
				  "1 waits 50000000-100000000 for 19:0 on and on cut\n");
}

static void test_pinned_wait_ends_where_its_events_are_lost(void **state)
{
	struct made m = made_begin("pin.rec", 100 * MS);
	struct fib_event e[] = {
		made_run(10 * MS, 1, FIB_EVENT_NOBODY, 0, 0),
		made_event(FIB_EVENT_PINNED, 20 * MS, 1),
	};
	const struct fib_event late[] = {made_event(FIB_EVENT_UNPINNED, 60 * MS, 1)};

	(void)state;
	e[1].kind = FIB_WAIT_PARK;
	made_ring(&m, 0, 0, e, 2);
	made_ring(&m, 0, 9, late, 1);
	play(made_end(&m));
	assert_string_equal(told, "1 pinned 20000000-20000000 for 3:0 cut\n"
				  "1 runs 10000000-20000000 on 0 cut\n"
				  "1 unknown 20000000-100000000 on and on\n");
}

/*
 * The list shows that one fiber runs on each carrier from the start. Losses on the other carrier do
 * not matter.
 */
static void test_holes_of_a_carrier_leave_who_runs_on_another(void **state)
{
	struct made m = made_begin("other.rec", 100);
	const struct fib_recording_fiber first[] = {
		{.id = 7, .since = BEGAN, .state = FIBER_RUNNING, .carrier = 0},
		{.id = 8, .since = BEGAN, .state = FIBER_RUNNING, .carrier = 1},
		{.id = 9, .since = BEGAN, .state = FIBER_RUNNING, .carrier = 1},
	};
	struct fib_event e[] = {
		made_event(FIB_EVENT_STEAL, 10, 1), made_event(FIB_EVENT_STEAL, 20, 1),
		made_event(FIB_EVENT_STEAL, 30, 1), made_event(FIB_EVENT_STEAL, 40, 1),
		made_event(FIB_EVENT_EXIT, 35, 9),
	};

	(void)state;
	ins_recording_put(m.w, FIB_RECORDING_FIBERS, first, sizeof first);
	made_ring(&m, 0, 0, &e[0], 1);
	made_ring(&m, 0, 5, &e[1], 1); /* a hole from 10 to 20 */
	made_ring(&m, 0, 5, &e[2], 1); /* a hole from 20 to 30 */
	made_ring(&m, 1, 0, &e[4], 1);
	made_ring(&m, 1, 5, &e[3], 1); /* a hole from 35 to 40 */
	play(made_end(&m));
	assert_string_equal(told, "7 runs 0-10 on 0 cut\n"
				  "9 runs 0-35 on 1\n"
				  "8 runs 0-35 on 1 cut\n"
				  "7 unknown 10-100 on and on\n"
				  "8 unknown 35-100 on and on\n");
}

/*
 * The list at the end saw fiber 4 at 5 ms and fiber 5 at 7 ms. Later events of these fibers may be
 * lost.
 */
static void test_holes_end_what_the_list_at_the_end_saw_before_them(void **state)
{
	struct made m = made_begin("seen.rec", 10000000);
	const struct fib_recording_fiber both[] = {
		{.id = 4,
		 .since = BEGAN,
		 .seen = BEGAN + 5000000,
		 .state = FIBER_SUSPENDED,
		 .wait_kind = FIB_WAIT_PARK},
		{.id = 5,
		 .since = BEGAN,
		 .seen = BEGAN + 7000000,
		 .state = FIBER_SUSPENDED,
		 .wait_kind = FIB_WAIT_PARK},
	};
	struct fib_event e[] = {
		made_event(FIB_EVENT_STEAL, 4000000, 1), made_event(FIB_EVENT_STEAL, 5000000, 1),
		made_event(FIB_EVENT_STEAL, 5500000, 1), made_event(FIB_EVENT_STEAL, 6500000, 1),
		made_wake(6600000, 4, 0, FIB_WAIT_PARK), made_event(FIB_EVENT_STEAL, 8000000, 1),
	};
	unsigned i;

	(void)state;
	ins_recording_put(m.w, FIB_RECORDING_FIBERS, both, sizeof both);
	for (i = 0; i < 6; i++)
		made_ring(&m, 0, i != 4, &e[i], 1);
	ins_recording_put(m.w, FIB_RECORDING_LAST, both, sizeof both);
	play(made_end(&m));
	assert_string_equal(told, "4 waits 0-5000000 for 3:0 cut\n"
				  "0 wakes 4 at 6600000\n"
				  "4 unknown 5000000-6600000\n"
				  "4 runnable 6600000-6600000 cut\n"
				  "5 waits 0-7000000 for 3:0 cut\n"
				  "4 unknown 6600000-10000000 on and on\n"
				  "5 unknown 7000000-10000000 on and on\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replay_says_only_what_is_certain_where_events_were_lost),
		cmocka_unit_test(test_wait_whose_end_may_be_lost_is_not_counted_on),
		cmocka_unit_test(test_wait_that_was_seen_after_the_hole_goes_on),
		cmocka_unit_test(test_what_begins_while_another_ring_is_lost_is_not_counted_on),
		cmocka_unit_test(test_wait_that_was_seen_to_be_over_is_not_counted_on),
		cmocka_unit_test(test_pinned_wait_ends_where_its_events_are_lost),
		cmocka_unit_test(test_holes_of_a_carrier_leave_who_runs_on_another),
		cmocka_unit_test(test_holes_end_what_the_list_at_the_end_saw_before_them),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
