/* SPDX-License-Identifier: MIT */
/*
 * test_rwlock_model.c - the state word of a rwlock and its queue, in every interleaving
 *
 * Four actors lock and unlock once each, some to write, and a clock may end the waits of some. The
 * steps are those of rwlock.c. The state word is changed by compare-and-swap outside the queue's
 * lock, and by plain stores inside it while WAITED is set.
 *
 * A writer is alone inside. No actor that is not in the queue enters while one waits there. No actor
 * sleeps for ever, and at the end the lock is free. A writer that is the last user frees the memory
 * of the lock after its unlock, and no actor touches it then. Then each rule is left out, and the
 * model must find the error.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "rwlock_steps.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/sched/explore.h"

static const char *const faults[] = {NULL, "a writer is not alone", "a waiter was overtaken",
				     "a freed lock is touched"};

static const char *wrong(const void *state, bool final)
{
	const struct model *m = state;
	unsigned i;

	if (m->fault || !final)
		return faults[m->fault];
	for (i = 0; i < USERS; i++)
		if (m->user[i].at != END)
			return "an actor sleeps for ever";
	return m->state || m->length ? "all have left, and it is not free" : NULL;
}

/* who: r, w or - for each actor. */
static void run(enum broken rule, const char *who, unsigned clocked, struct explore *e)
{
	struct model first = {.clocked = (uint8_t)clocked};
	unsigned i;

	*e = (struct explore){sizeof first, USERS + 1, step, wrong, 0, 0, NULL, ""};
	broken = rule;
	for (i = 0; i < USERS; i++) {
		first.user[i].at = who[i] == '-' ? END : READ_STATE;
		first.user[i].writes = who[i] == 'w';
	}
	explore(e, &first);
}

static void test_rwlock_model_excludes_writers_in_order_and_forgets_no_waiter(void **state)
{
	static const char *const casts[] = {"rr--", "rw--", "ww--", "rrw-", "rww-", "www-", "rrrw"};
	struct explore e;
	unsigned i, clocked;

	(void)state;
	for (i = 0; i < sizeof casts / sizeof casts[0]; i++) {
		for (clocked = 0; clocked < 8; clocked++) {
			run(NOTHING, casts[i], clocked << (casts[i][3] == 'w'), &e);
			if (e.found)
				print_message("# %s, %u: %s: %s\n", casts[i], clocked, e.found,
					      e.way);
			assert_null(e.found);
			assert_true(e.states > 20 && e.finals > 0);
		}
	}
}

static void goes_wrong(enum broken rule, const char *who, unsigned clocked, const char *what)
{
	struct explore e;

	run(rule, who, clocked, &e);
	assert_non_null(e.found);
	assert_string_equal(e.found, what);
	assert_true(e.way[0]);
}

static void test_rwlock_model_that_announces_after_an_old_look_leaves_a_sleeper(void **state)
{
	(void)state;
	goes_wrong(ANNOUNCES_BLINDLY, "ww--", 0, "an actor sleeps for ever");
}

static void test_rwlock_model_whose_unlock_ignores_waiters_leaves_a_sleeper(void **state)
{
	(void)state;
	goes_wrong(LEAVES_FAST, "rw--", 0, "an actor sleeps for ever");
}

static void test_rwlock_model_whose_readers_pass_waiters_lets_them_overtake(void **state)
{
	(void)state;
	goes_wrong(READERS_PASS, "rrw-", 0, "a waiter was overtaken");
}

static void test_rwlock_model_that_clears_the_flag_early_lets_others_overtake(void **state)
{
	(void)state;
	goes_wrong(CLEARS_EARLY, "rrw-", 0, "an actor sleeps for ever");
}

static void test_rwlock_model_that_frees_under_the_lock_touches_it_afterwards(void **state)
{
	(void)state;
	goes_wrong(FREES_LOCKED, "wrw-", 2, "a freed lock is touched");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rwlock_model_excludes_writers_in_order_and_forgets_no_waiter),
		cmocka_unit_test(
			test_rwlock_model_that_announces_after_an_old_look_leaves_a_sleeper),
		cmocka_unit_test(test_rwlock_model_whose_unlock_ignores_waiters_leaves_a_sleeper),
		cmocka_unit_test(test_rwlock_model_whose_readers_pass_waiters_lets_them_overtake),
		cmocka_unit_test(test_rwlock_model_that_clears_the_flag_early_lets_others_overtake),
		cmocka_unit_test(test_rwlock_model_that_frees_under_the_lock_touches_it_afterwards),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
