/* SPDX-License-Identifier: MIT */
/*
 * test_cancel_model.c - the gap between reading the flag and being armed, in every interleaving
 *
 * A fiber waits twice for units of a semaphore, one actor posts, another cancels the fiber. The
 * steps are those of wait.c, sem.c and cancel.c; what happens under a queue's lock is one step. At
 * the end the cancelled fiber must not sleep, must have been made runnable exactly as often as it
 * left, and every unit must be with the fiber or in the count.
 *
 * In a second run the fiber masks its first wait and unmasks before its second. The first must not
 * end as cancelled, and the request must end the second. The mask is a bit beside the flag, in one
 * byte: a load and a store on one side may undo what the other side has written.
 *
 * Then each rule is left out, and the model must find the error. The second look taken before
 * arming, and the word read before the flag is set, are also what a missing fence would allow. That
 * the canceller can also fence for the waiters is shown in test_fence_model.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "cancel_steps.h"
#include "tests/harness/watchdog.h"

static void run(enum broken rule, unsigned posts, struct explore *e)
{
	run_masked(rule, false, posts, e);
}

static void test_cancel_model_never_leaves_a_cancelled_fiber_asleep_or_loses_a_unit(void **state)
{
	struct explore e;
	unsigned posts;

	(void)state;
	for (posts = 0; posts <= 3; posts++) {
		run(NOTHING, posts, &e);
		if (e.found)
			print_message("# %s: %s\n", e.found, e.way);
		assert_null(e.found);
		/* The exploration was not trivial: many states, and some of them final. */
		assert_true(e.states > 15 * (posts + 1));
		assert_true(e.finals > 0);
	}
}

static void goes_wrong(enum broken rule, unsigned posts, const char *what)
{
	struct explore e;

	run(rule, posts, &e);
	assert_non_null(e.found);
	assert_string_equal(e.found, what);
	assert_true(e.way[0]);
}

static void test_cancel_model_without_the_second_look_leaves_a_fiber_asleep(void **state)
{
	(void)state;
	goes_wrong(NO_SECOND_LOOK, 0, "a cancelled fiber sleeps");
	goes_wrong(LOOKS_FIRST, 0, "a cancelled fiber sleeps");
}

static void test_cancel_model_with_the_word_read_too_early_leaves_a_fiber_asleep(void **state)
{
	(void)state;
	goes_wrong(READS_FIRST, 0, "a cancelled fiber sleeps");
}

static void test_cancel_model_that_decides_without_comparing_runs_a_fiber_twice(void **state)
{
	(void)state;
	goes_wrong(NO_COMPARISON, 1, "the fiber is in two run queues");
}

static void test_cancel_model_that_leaves_without_retreat_is_made_to_run_later(void **state)
{
	(void)state;
	goes_wrong(NO_RETREAT, 0, "a fiber that does not sleep is in a run queue");
}

static void test_cancel_model_that_aborts_for_sure_is_made_to_run_later(void **state)
{
	(void)state;
	goes_wrong(SURE_ABORT, 1, "a fiber that does not sleep is in a run queue");
}

/* One unit is for the masked wait, which lasts until the unit comes. */
static void test_cancel_model_of_a_masked_wait_tells_the_next_one(void **state)
{
	struct explore e;
	unsigned posts;

	(void)state;
	for (posts = 1; posts <= 3; posts++) {
		run_masked(NOTHING, true, posts, &e);
		if (e.found)
			print_message("# %s: %s\n", e.found, e.way);
		assert_null(e.found);
		assert_true(e.states > 15 * (posts + 1));
		assert_true(e.finals > 0);
	}
}

static void goes_wrong_masked(enum broken rule, const char *what)
{
	struct explore e;

	run_masked(rule, true, 1, &e);
	assert_non_null(e.found);
	assert_string_equal(e.found, what);
	assert_true(e.way[0]);
}

static void test_cancel_model_of_a_masked_wait_that_is_not_firm_is_cancelled(void **state)
{
	(void)state;
	goes_wrong_masked(ARMS_PLAINLY, "a masked wait is cancelled");
}

static void test_cancel_model_of_a_mask_that_undoes_the_request_leaves_a_fiber_asleep(void **state)
{
	(void)state;
	goes_wrong_masked(UNMASK_STORES, "a cancelled fiber sleeps");
	goes_wrong_masked(MASK_FORGETS, "a cancelled fiber sleeps");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_cancel_model_never_leaves_a_cancelled_fiber_asleep_or_loses_a_unit),
		cmocka_unit_test(test_cancel_model_without_the_second_look_leaves_a_fiber_asleep),
		cmocka_unit_test(
			test_cancel_model_with_the_word_read_too_early_leaves_a_fiber_asleep),
		cmocka_unit_test(
			test_cancel_model_that_decides_without_comparing_runs_a_fiber_twice),
		cmocka_unit_test(
			test_cancel_model_that_leaves_without_retreat_is_made_to_run_later),
		cmocka_unit_test(test_cancel_model_that_aborts_for_sure_is_made_to_run_later),
		cmocka_unit_test(test_cancel_model_of_a_masked_wait_tells_the_next_one),
		cmocka_unit_test(test_cancel_model_of_a_masked_wait_that_is_not_firm_is_cancelled),
		cmocka_unit_test(
			test_cancel_model_of_a_mask_that_undoes_the_request_leaves_a_fiber_asleep),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
