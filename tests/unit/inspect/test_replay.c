/* SPDX-License-Identifier: MIT */
/* test_replay.c - what lasted between two events, and who woke whom. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "inspect/replay.h"
#include "recordings.h"
#include "tests/harness/watchdog.h"

static char told[4096];
static size_t used;

static void tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void tell(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	used += (size_t)vsnprintf(told + used, sizeof told - used, fmt, ap);
	va_end(ap);
	assert_true(used < sizeof told);
}

static void slice(void *context, const struct ins_slice *s)
{
	static const char *const doing[] = {"unknown", "runs", "runnable", "waits", "pinned"};

	(void)context;
	tell("%d %s %d-%d", (int)s->fiber, doing[s->doing], (int)(s->from - BEGAN),
	     (int)(s->to - BEGAN));
	if (s->doing == INS_DOING_RUNNING)
		tell(" on %d", (int)s->ring);
	if (s->doing == INS_DOING_WAITING || s->doing == INS_DOING_PINNED)
		tell(" for %u:%x", s->kind, (unsigned)s->object);
	tell("%s%s\n", s->flags & INS_SLICE_BEGAN_EARLIER ? " earlier" : "",
	     s->flags & INS_SLICE_GOES_ON ? " on and on" : "");
}

static void wakeup(void *context, const struct ins_wakeup *w)
{
	(void)context;
	tell("%d %s %d at %d%s\n", (int)w->waker, w->spawn ? "makes" : "wakes", (int)w->fiber,
	     (int)(w->ns - BEGAN), w->ended ? " ended" : "");
}

static void play(struct ins_recording *r)
{
	static const struct ins_replay_ops ops = {slice, wakeup, NULL};
	struct ins_replay *replay;
	char first[sizeof told];

	assert_int_equal(ins_replay_new(r, &replay), 0);
	used = 0;
	ins_replay_play(replay, &ops, NULL);
	memcpy(first, told, sizeof told);
	used = 0;
	ins_replay_play(replay, &ops, NULL);
	assert_string_equal(told, first); /* as often as one likes */
	ins_replay_free(replay);
	ins_recording_close(r);
}

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

/* The waker was faster than the fiber that was about to leave. */
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

/* 1 ran until the last event before the hole; 3, which was runnable, may have run in it, and 4 has waited ever since, says the
 * list at the end. What 5 does on the other carrier is known. */
static void test_replay_says_only_what_is_certain_where_events_were_lost(void **state)
{
	struct made m = made_begin("hole.rec", 10000000);
	const struct ins_recording_fiber first[] = {
		{.id = 3, .since = BEGAN, .state = FIBER_RUNNABLE},
		{.id = 4, .since = BEGAN, .state = FIBER_SUSPENDED, .wait_kind = FIB_WAIT_PARK},
		{.id = 6, .since = BEGAN, .state = FIBER_RUNNABLE},
	};
	const struct ins_recording_fiber last[] = {
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
	ins_recording_put(m.w, INS_RECORDING_FIBERS, first, sizeof first);
	made_ring(&m, 0, 0, early, 3);
	made_ring(&m, 0, 5, late, 2);
	made_ring(&m, 1, 0, other, 1);
	ins_recording_put(m.w, INS_RECORDING_LAST, last, sizeof last);
	play(made_end(&m));
	assert_string_equal(told, "0 makes 3 at 5\n"
				  "1 runs 10-40 on 0\n"
				  "3 runnable 5-40\n"
				  "6 runnable 0-40\n"
				  "2 runs 60-70 on 0\n"
				  "2 waits 70-10000000 for 3:0 on and on\n"
				  "4 waits 0-10000000 for 3:0 on and on\n"
				  "5 runs 10-10000000 on 1 on and on\n"
				  "6 runs 70-10000000 on 0 on and on\n");
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

/* Without an event of its own, by the list. */
static void test_replay_knows_those_that_did_nothing(void **state)
{
	struct made m = made_begin("still.rec", 100);
	const struct ins_recording_fiber first[] = {
		{.id = 1, .since = BEGAN - 5, .state = FIBER_SUSPENDED, .wait_kind = FIB_WAIT_FD},
		{.id = 2, .since = BEGAN + 5, .state = FIBER_RUNNING, .carrier = 1},
		{.id = 3, .since = BEGAN + 5, .state = FIBER_CREATED},
	};

	(void)state;
	ins_recording_put(m.w, INS_RECORDING_FIBERS, first, sizeof first);
	made_ring(&m, 0, 0, NULL, 0);
	made_ring(&m, 1, 0, NULL, 0);
	play(made_end(&m));
	assert_string_equal(told, "1 waits 0-100 for 19:0 earlier on and on\n"
				  "2 runs 5-100 on 1 on and on\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replay_tells_what_each_fiber_did),
		cmocka_unit_test(test_replay_knows_a_waker_that_is_faster_than_the_sleeper),
		cmocka_unit_test(test_replay_says_only_what_is_certain_where_events_were_lost),
		cmocka_unit_test(test_replay_knows_pinned_waits_and_whom_an_end_wakes),
		cmocka_unit_test(test_replay_knows_those_that_did_nothing),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
