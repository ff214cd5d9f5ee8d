/* SPDX-License-Identifier: MIT */
/* test_replay.c - the intervals between events, and which fiber woke which */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "replays.h"
#include "tests/harness/watchdog.h"

static void test_replay_tells_what_each_fiber_did(void **state)
{
	(void)state;
	play(made_three());
	assert_string_equal(told, "1 runnable 0-100\n"
				  "1 makes 2 at 200\n"
				  "1 runs 100-300 on 0\n"
				  "2 runnable 200-300\n"
				  "0 wakes 3 at 400\n"
				  "3 waits 0-400 for 2:0 earlier\n"
				  "3 runnable 400-450\n"
				  "3 wakes 1 at 500\n"
				  "1 waits 300-500 for 6:abc\n"
				  "3 runs 450-550 on 1\n"
				  "1 runnable 500-600\n"
				  "1 runs 600-700 on 1\n"
				  "2 runs 300-900 on 0\n"
				  "2 runnable 900-1000 on and on\n"
				  "3 waits 550-1000 for 3:0 on and on\n");
}

/* The wakeup comes before the sleeper has switched away. */
static void test_replay_knows_a_waker_that_is_faster_than_the_sleeper(void **state)
{
	struct made m = made_begin("fast.rec", 100);
	const struct fib_event zero[] = {made_run(10, 1, FIB_EVENT_NOBODY, 0, 0),
					 made_run(30, 0, FIBER_SUSPENDED, FIB_WAIT_PARK, 0),
					 made_run(50, 1, FIB_EVENT_NOBODY, 0, 0)};
	const struct fib_event outside[] = {made_wake(20, 1, 99, FIB_WAIT_PARK)};

	(void)state;
	made_ring(&m, 0, 0, zero, 3);
	made_ring(&m, FIB_EVENT_OUTSIDE, 0, outside, 1);
	play(made_end(&m));
	assert_string_equal(told, "99 wakes 1 at 20\n"
				  "1 runs 10-30 on 0\n"
				  "1 runnable 30-50\n"
				  "1 runs 50-100 on 0 on and on\n");
}

static void test_replay_knows_pinned_waits_and_whom_an_end_wakes(void **state)
{
	struct made m = made_begin("pinned.rec", 100);
	struct fib_event e[] = {
		made_run(10, 1, FIB_EVENT_NOBODY, 0, 0),
		made_event(FIB_EVENT_PINNED, 20, 1),
		made_event(FIB_EVENT_UNPINNED, 40, 1),
		made_run(50, 2, FIBER_SUSPENDED, FIB_WAIT_JOIN, 2),
		made_event(FIB_EVENT_EXIT, 60, 2),
		made_wake(61, 1, 0, FIB_WAIT_JOIN),
		made_run(70, 1, FIBER_DEAD, 0, 0),
	};

	(void)state;
	e[1].kind = FIB_WAIT_MUTEX;
	e[1].object = 0x99;
	made_ring(&m, 0, 0, e, 7);
	play(made_end(&m));
	assert_string_equal(told, "1 pinned 20-40 for 6:99\n"
				  "1 runs 10-50 on 0\n"
				  "2 runs 50-60 on 0\n"
				  "2 wakes 1 at 61 ended\n"
				  "1 waits 50-61 for 5:2\n"
				  "1 runnable 61-70\n"
				  "1 runs 70-100 on 0 on and on\n");
}

/* The list is all that is known of fibers without events. */
static void test_replay_knows_those_that_did_nothing(void **state)
{
	struct made m = made_begin("still.rec", 100);
	const struct fib_recording_fiber first[] = {
		{.id = 1, .since = BEGAN - 5, .state = FIBER_SUSPENDED, .wait_kind = FIB_WAIT_FD},
		{.id = 2, .since = BEGAN + 5, .state = FIBER_RUNNING, .carrier = 1},
		{.id = 3, .since = BEGAN + 5, .state = FIBER_CREATED},
	};

	(void)state;
	ins_recording_put(m.w, FIB_RECORDING_FIBERS, first, sizeof first);
	made_ring(&m, 0, 0, NULL, 0);
	made_ring(&m, 1, 0, NULL, 0);
	play(made_end(&m));
	assert_string_equal(told, "1 waits 0-100 for 19:0 earlier on and on\n"
				  "2 runs 5-100 on 1 on and on\n");
}

/* A carrier's first RUN event tells the state of the fiber that the list shows on it. */
static void test_replay_knows_whom_the_first_turn_leaves(void **state)
{
	struct made m = made_begin("first.rec", 100);
	const struct fib_recording_fiber first[] = {
		{.id = 1, .since = BEGAN - 5, .state = FIBER_RUNNING, .carrier = 0},
		{.id = 2, .since = BEGAN + 5, .state = FIBER_RUNNING, .carrier = 1},
	};
	const struct fib_event zero[] = {made_run(30, 3, FIBER_SUSPENDED, FIB_WAIT_PARK, 0)};
	const struct fib_event one[] = {made_run(40, 4, FIB_EVENT_NOBODY, 0, 0)};

	(void)state;
	ins_recording_put(m.w, FIB_RECORDING_FIBERS, first, sizeof first);
	made_ring(&m, 0, 0, zero, 1);
	made_ring(&m, 1, 0, one, 1);
	play(made_end(&m));
	assert_string_equal(told, "1 runs 0-30 on 0 earlier\n"
				  "1 waits 30-100 for 3:0 on and on\n"
				  "3 runs 30-100 on 0 on and on\n"
				  "4 runs 40-100 on 1 on and on\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replay_tells_what_each_fiber_did),
		cmocka_unit_test(test_replay_knows_a_waker_that_is_faster_than_the_sleeper),
		cmocka_unit_test(test_replay_knows_pinned_waits_and_whom_an_end_wakes),
		cmocka_unit_test(test_replay_knows_those_that_did_nothing),
		cmocka_unit_test(test_replay_knows_whom_the_first_turn_leaves),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
