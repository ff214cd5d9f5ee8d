/* SPDX-License-Identifier: MIT */
/*
 * test_mutex_model.c - the owner word of a mutex and its queue, in every interleaving
 *
 * Three actors lock and unlock a number of times, and a clock may end the waits of some. An actor
 * is a fiber or a thread. The steps are those of mutex.c. The owner word is changed by
 * compare-and-swap outside the queue's lock and by plain stores inside it.
 *
 * At most one actor holds the mutex, and an actor whose lock succeeded is the owner. An actor that
 * timed out is not granted the mutex as well. The actors get the mutex in the order in which they
 * came, and no actor sleeps for ever. No reader finds a fiber that waits for the mutex that it
 * owns. Then each rule is left out, and the model must find the error.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "mutex_steps.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/sched/explore.h"

static const char *const faults[] = {NULL, "two are inside", "who was granted it is not its owner",
				     "somebody was overtaken", "the owner waits for its own mutex"};

static const char *wrong(const void *state, bool final)
{
	const struct model *m = state;
	unsigned i;

	if (m->fault || !final)
		return faults[m->fault];
	for (i = 0; i < USERS; i++)
		if (m->user[i].at != END)
			return "somebody sleeps for ever";
	return m->owner || m->length ? "nobody is left, and it is not free" : NULL;
}

/* blocking: a bit for each actor that is a thread. */
static void run(enum broken rule, const char *rounds, unsigned clocked, unsigned blocking,
		struct explore *e)
{
	struct model first = {.clocked = (uint8_t)clocked};
	unsigned i;

	*e = (struct explore){sizeof first, USERS + 1, step, wrong, 0, 0, NULL, ""};
	broken = rule;
	for (i = 0; i < USERS; i++) {
		first.user[i].rounds = (uint8_t)(rounds[i] - '0');
		first.user[i].at = first.user[i].rounds ? TAKE_FREE : END;
		first.user[i].blocks = blocking >> i & 1;
	}
	explore(e, &first);
}

static void test_mutex_model_lets_in_one_in_order_and_forgets_nobody(void **state)
{
	static const char *const rounds[] = {"110", "220", "111", "211"};
	struct explore e;
	unsigned mix, i;

	(void)state;
	for (i = 0; i < 4; i++) {
		for (mix = 0; mix < 64; mix++) {
			run(NOTHING, rounds[i], mix % 8, mix / 8, &e);
			if (e.found)
				print_message("# %s, %u: %s: %s\n", rounds[i], mix, e.found, e.way);
			assert_null(e.found);
			assert_true(e.states > 20 && e.finals > 0);
		}
	}
}

static void goes_wrong(enum broken rule, const char *rounds, unsigned clocked, unsigned blocking,
		       const char *what)
{
	struct explore e;

	run(rule, rounds, clocked, blocking, &e);
	assert_non_null(e.found);
	assert_string_equal(e.found, what);
	assert_true(e.way[0]);
}

static void test_mutex_model_whose_thread_does_not_lock_again_runs_before_it_is_the_owner(
	void **state)
{
	(void)state;
	goes_wrong(NOT_LOCKED_AGAIN, "110", 0, 3, "who was granted it is not its owner");
}

static void test_mutex_model_that_writes_the_owner_first_shows_a_deadlock(void **state)
{
	(void)state;
	goes_wrong(STORES_FIRST, "110", 0, 0, "the owner waits for its own mutex");
}

static void test_mutex_model_whose_holder_does_not_look_leaves_a_sleeper(void **state)
{
	(void)state;
	goes_wrong(NOT_ANNOUNCED, "110", 0, 0, "somebody sleeps for ever");
	goes_wrong(STORES_FREE, "110", 0, 0, "somebody sleeps for ever");
}

static void test_mutex_model_that_grants_to_one_who_timed_out_lets_in_another_than_the_owner(
	void **state)
{
	(void)state;
	goes_wrong(NO_COMPARISON, "110", 2, 0, "who was granted it is not its owner");
}

static void test_mutex_model_that_only_wakes_lets_others_overtake(void **state)
{
	(void)state;
	goes_wrong(NEWEST_FIRST, "111", 0, 0, "somebody was overtaken");
	goes_wrong(FREES_AND_WAKES, "111", 0, 0, "somebody was overtaken");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutex_model_lets_in_one_in_order_and_forgets_nobody),
		cmocka_unit_test(
			test_mutex_model_whose_thread_does_not_lock_again_runs_before_it_is_the_owner),
		cmocka_unit_test(test_mutex_model_that_writes_the_owner_first_shows_a_deadlock),
		cmocka_unit_test(test_mutex_model_whose_holder_does_not_look_leaves_a_sleeper),
		cmocka_unit_test(
			test_mutex_model_that_grants_to_one_who_timed_out_lets_in_another_than_the_owner),
		cmocka_unit_test(test_mutex_model_that_only_wakes_lets_others_overtake),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
