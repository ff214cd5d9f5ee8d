/* SPDX-License-Identifier: MIT */
/* test_sample_match.c - a stack sample belongs to the wait in which it was taken */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "inspect/recording/sample_match.h"
#include "tests/harness/inspect/recordings.h"
#include "tests/harness/watchdog.h"

#define MS 1000000

static struct ins_recording *r;
static struct ins_sample_match *seen;
static char told[1024];

/* "from-to stack" of each wait, in ms. */
static void tell(void *context, const struct ins_slice *s)
{
	const char *stack = ins_sample_match_stack(seen, s);

	(void)context;
	if (s->doing == INS_DOING_WAITING)
		snprintf(told + strlen(told), sizeof told - strlen(told), "%d-%d %s\n",
			 (int)((s->from - BEGAN) / MS), (int)((s->to - BEGAN) / MS),
			 stack ? stack : "-");
	else
		assert_null(stack);
}

static void look(struct made *m)
{
	static const struct ins_replay_ops ops = {.slice = tell};
	struct ins_replay *replay;

	ins_recording_put_text(m->w, FIB_RECORDING_SHAPES, 1, "at_a");
	ins_recording_put_text(m->w, FIB_RECORDING_SHAPES, 2, "at_b");
	r = made_end(m);
	assert_int_equal(ins_replay_new(r, &replay), 0);
	assert_int_equal(ins_sample_match_new(r, replay, &seen), 0);
	told[0] = 0;
	ins_replay_play(replay, &ops, NULL);
	ins_sample_match_free(seen);
	ins_replay_free(replay);
	ins_recording_close(r);
}

/* One fiber waits at A from 10 to 50 ms, at B from 60 to 70, at A again from 80 to the end. */
static struct made waits(unsigned a, unsigned b)
{
	struct made m = made_begin("seen.rec", 100 * MS);
	const struct fib_event e[] = {
		made_run(5 * MS, 1, FIB_EVENT_NOBODY, 0, 0),
		made_run(10 * MS, 0, FIBER_SUSPENDED, a, 0),
		made_wake(50 * MS, 1, 0, a),
		made_run(51 * MS, 1, FIB_EVENT_NOBODY, 0, 0),
		made_run(60 * MS, 0, FIBER_SUSPENDED, b, 0),
		made_wake(70 * MS, 1, 0, b),
		made_run(71 * MS, 1, FIB_EVENT_NOBODY, 0, 0),
		made_run(80 * MS, 0, FIBER_SUSPENDED, a, 0),
	};

	made_ring(&m, 0, 0, e, 8);
	return m;
}

static void test_stack_is_of_the_wait_that_it_was_seen_in(void **state)
{
	struct made m = waits(FIB_WAIT_PARK, FIB_WAIT_PARK);

	(void)state;
	made_sample(&m, 1, 1, 40 * MS, 10 * MS, FIB_WAIT_PARK, 0);
	made_sample(&m, 1, 2, 65 * MS, 59 * MS, FIB_WAIT_PARK, 0);
	look(&m);
	assert_string_equal(told, "10-50 at_a\n60-70 at_b\n80-100 -\n");
}

/*
 * Two samples that match no wait: one taken while the fiber ran, from a record updated late; one of
 * another fiber.
 */
static void test_stack_that_fits_no_wait_is_nobodys(void **state)
{
	struct made m = waits(FIB_WAIT_PARK, FIB_WAIT_SLEEP);

	(void)state;
	made_sample(&m, 1, 1, 55 * MS, 10 * MS, FIB_WAIT_PARK, 0);
	made_sample(&m, 2, 1, 40 * MS, 10 * MS, FIB_WAIT_PARK, 0);
	look(&m);
	assert_string_equal(told, "10-50 -\n60-70 -\n80-100 -\n");
}

/*
 * The sample was taken over the end of one wait and the start of the next. The kind of the wait or
 * its start tells them apart.
 */
static void test_stack_of_two_waits_is_nobodys(void **state)
{
	struct fib_recording_sample s = {
		.fiber = 1,
		.stack = 1,
		.since = BEGAN + 9 * MS,
		.from = BEGAN + 45 * MS,
		.to = BEGAN + 65 * MS,
		.wait_kind = FIB_WAIT_PARK,
	};
	const struct fib_recording_look when = {s.from, s.to, 1, 1, 0};
	struct made m = waits(FIB_WAIT_PARK, FIB_WAIT_PARK);

	(void)state;
	ins_recording_put(m.w, FIB_RECORDING_SAMPLES, &s, sizeof s);
	ins_recording_put(m.w, FIB_RECORDING_LOOKS, &when, sizeof when);
	look(&m);
	assert_string_equal(told, "10-50 -\n60-70 -\n80-100 -\n");

	m = waits(FIB_WAIT_PARK, FIB_WAIT_SLEEP);
	ins_recording_put(m.w, FIB_RECORDING_SAMPLES, &s, sizeof s);
	ins_recording_put(m.w, FIB_RECORDING_LOOKS, &when, sizeof when);
	look(&m);
	assert_string_equal(told, "10-50 at_a\n60-70 -\n80-100 -\n");

	m = waits(FIB_WAIT_PARK, FIB_WAIT_PARK);
	s.since = BEGAN + 58 * MS;
	ins_recording_put(m.w, FIB_RECORDING_SAMPLES, &s, sizeof s);
	ins_recording_put(m.w, FIB_RECORDING_LOOKS, &when, sizeof when);
	look(&m);
	assert_string_equal(told, "10-50 -\n60-70 at_a\n80-100 -\n");
}

/* An older recording stores only the earliest time at which its stacks were taken. */
static void test_stack_of_an_older_recording_may_have_been_left_since(void **state)
{
	const struct fib_recording_fiber last = {.id = 1,
						 .since = BEGAN + 10 * MS,
						 .seen = BEGAN + 45 * MS,
						 .state = FIBER_SUSPENDED,
						 .wait_kind = FIB_WAIT_PARK};
	struct made m = waits(FIB_WAIT_PARK, FIB_WAIT_SLEEP);

	(void)state;
	ins_recording_put(m.w, FIB_RECORDING_LAST, &last, sizeof last);
	ins_recording_put_text(m.w, FIB_RECORDING_STACKS, 1, "before");
	look(&m);
	assert_string_equal(told, "10-50 -\n60-70 -\n80-100 -\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stack_is_of_the_wait_that_it_was_seen_in),
		cmocka_unit_test(test_stack_that_fits_no_wait_is_nobodys),
		cmocka_unit_test(test_stack_of_two_waits_is_nobodys),
		cmocka_unit_test(test_stack_of_an_older_recording_may_have_been_left_since),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
