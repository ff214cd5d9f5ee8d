/* SPDX-License-Identifier: MIT */
/*
 * test_close_model.c - closing a scheduler while threads still use it, in every interleaving
 *
 * A thread wakes the last fiber, another spawns one, a third finishes the scheduler and frees it,
 * and a carrier runs what is runnable. The steps are those of live_count.c (enter_from_outside,
 * fib_close), of ready.c (fib_ready) and of sched.c. How carriers count has its own model
 * (test_live_count_model).
 *
 * A fiber that was counted in runs to its end, no fiber is counted in after the close, and no
 * thread touches freed memory (sched.visit). A waker from outside counts itself before the fiber
 * can run, since that fiber's end may be all that the finisher waits for.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/watchdog.h"
#include "tests/unit/sched/explore.h"

enum { WAKER, SPAWNER, CARRIER, FINISHER, ACTORS };

enum at {
	VISIT, /* enter the visitors' count */
	PUT,   /* the fiber can be found, and a carrier is woken through s */
	NOTIFY,
	GO, /* the last access to s */
	READ_WORD,
	COUNT_IN,
	RUN,
	COUNT_OUT,
	AWAIT_NONE,
	READ_ENDED,
	CLOSE,
	AWAIT_VISITORS,
	STOP, /* join the carriers */
	FREE,
	END,
};

enum broken {
	NOTHING,
	NO_VISIT,	/* a waker does not enter the visitors' count */
	VISITS_LATE,	/* makes the fiber runnable first */
	GOES_EARLY,	/* looks at s once more after leaving the visitors' count */
	NO_COMPARISON,	/* enters itself in the count that it read, without comparing */
	CLOSES_BLINDLY, /* closes without comparing what was submitted since */
	VISITORS_FIRST, /* the finisher looks for visitors before it closes */
};

struct model {
	uint8_t at[ACTORS], saw[ACTORS];
	uint8_t submitted, ended, saw_ended, closed, visitors, runnable, stopped, freed;
	uint8_t ran, entered; /* counts of fibers; entered: counted in by the spawner */
	uint8_t fault;
};

static enum broken broken;

static void touch(struct model *m)
{
	m->fault |= m->freed;
}

static void put(struct model *m)
{
	touch(m);
	m->runnable++;
}

/* fib_ready from a thread, for the existing fiber. */
static bool step_waker(struct model *m)
{
	uint8_t *at = &m->at[WAKER];

	if (*at == END)
		return false;
	if (*at == PUT) {
		put(m);
		*at = broken == VISITS_LATE ? VISIT : broken == GOES_EARLY ? GO : NOTIFY;
		return true;
	}
	touch(m);
	if (*at == VISIT) {
		m->visitors += broken != NO_VISIT;
		*at = broken == VISITS_LATE ? NOTIFY : PUT;
	} else if (*at == NOTIFY) {
		*at = broken == GOES_EARLY ? END : GO;
	} else {
		m->visitors -= broken != NO_VISIT;
		*at = broken == GOES_EARLY ? NOTIFY : END;
	}
	return true;
}

/*
 * fib_spawn from a thread. The finisher waits for this call, as the rules of a runtime's handle
 * demand, but not for the fiber.
 */
static bool step_spawner(struct model *m)
{
	uint8_t *at = &m->at[SPAWNER];

	switch (*at) {
	case READ_WORD:
		touch(m);
		m->saw[SPAWNER] = m->submitted;
		*at = m->closed ? END : COUNT_IN;
		return true;
	case COUNT_IN:
		touch(m);
		if (broken != NO_COMPARISON && (m->submitted != m->saw[SPAWNER] || m->closed)) {
			*at = READ_WORD;
			return true;
		}
		m->submitted = (uint8_t)(m->saw[SPAWNER] + 1);
		m->entered = 1;
		*at = VISIT;
		return true;
	case VISIT:
		touch(m);
		m->visitors++;
		*at = PUT;
		return true;
	case PUT:
		put(m);
		*at = GO;
		return true;
	case GO:
		touch(m);
		m->visitors--;
		*at = END;
		return true;
	default:
		return false;
	}
}

static bool step_carrier(struct model *m)
{
	switch (m->at[CARRIER]) {
	case RUN:
		if (m->runnable) {
			m->runnable--;
			m->ran++;
			m->at[CARRIER] = COUNT_OUT;
			return true;
		}
		if (!m->stopped)
			return false;
		m->at[CARRIER] = END;
		return true;
	case COUNT_OUT:
		touch(m);
		m->ended++;
		m->at[CARRIER] = RUN;
		return true;
	default:
		return false;
	}
}

static bool step_finisher(struct model *m)
{
	uint8_t *at = &m->at[FINISHER];

	switch (*at) {
	case AWAIT_NONE:
		if (m->ended != m->submitted)
			return false;
		*at = READ_ENDED;
		return true;
	case READ_ENDED:
		m->saw_ended = m->ended;
		*at = READ_WORD;
		return true;
	case READ_WORD:
		m->saw[FINISHER] = m->submitted;
		*at = m->submitted == m->saw_ended ? CLOSE : AWAIT_NONE;
		return true;
	case CLOSE:
		if (m->submitted != m->saw[FINISHER] && broken != CLOSES_BLINDLY) {
			*at = AWAIT_NONE;
			return true;
		}
		m->closed = 1;
		*at = broken == VISITORS_FIRST ? STOP : AWAIT_VISITORS;
		return true;
	case AWAIT_VISITORS:
		if (m->visitors)
			return false;
		*at = broken == VISITORS_FIRST ? AWAIT_NONE : STOP;
		return true;
	case STOP:
		m->stopped = 1;
		*at = FREE;
		return true;
	case FREE:
		if (m->at[CARRIER] != END)
			return false;
		/* No thread may be about to use the handle; refused or counted-in spawners are
		 * allowed. */
		if (m->at[SPAWNER] == READ_WORD || m->at[SPAWNER] == COUNT_IN)
			return false;
		m->freed = 1;
		*at = END;
		return true;
	default:
		return false;
	}
}

static bool step(void *state, unsigned who)
{
	static bool (*const steps[ACTORS])(struct model *) = {step_waker, step_spawner,
							      step_carrier, step_finisher};

	return steps[who](state);
}

static const char *wrong(const void *state, bool final)
{
	const struct model *m = state;

	if (m->fault)
		return "what was freed is touched";
	if (!final)
		return NULL;
	if (m->ran != 1 + m->entered)
		return "a fiber that was counted in has not run";
	return m->at[FINISHER] == END ? NULL : "the scheduler does not finish";
}

static void run(enum broken rule, bool spawns, struct explore *e)
{
	struct model first = {.submitted = 1}; /* the fiber that waits for its wake-up */

	*e = (struct explore){sizeof first, ACTORS, step, wrong, 0, 0, NULL, ""};
	broken = rule;
	first.at[WAKER] = rule == VISITS_LATE ? PUT : VISIT;
	first.at[SPAWNER] = spawns ? READ_WORD : END;
	first.at[CARRIER] = RUN;
	first.at[FINISHER] = rule == VISITORS_FIRST ? AWAIT_VISITORS : AWAIT_NONE;
	explore(e, &first);
}

static void test_close_model_runs_whoever_was_counted_in_and_frees_last(void **state)
{
	struct explore e;
	unsigned spawns;

	(void)state;
	for (spawns = 0; spawns < 2; spawns++) {
		run(NOTHING, spawns, &e);
		if (e.found)
			print_message("# %s: %s\n", e.found, e.way);
		assert_null(e.found);
		assert_true(e.states > 12 && e.finals > 0);
	}
}

static void goes_wrong(enum broken rule, bool spawns, const char *what)
{
	struct explore e;

	run(rule, spawns, &e);
	assert_non_null(e.found);
	assert_string_equal(e.found, what);
	assert_true(e.way[0]);
}

static void test_close_model_without_a_visit_frees_what_a_waker_still_touches(void **state)
{
	(void)state;
	goes_wrong(NO_VISIT, false, "what was freed is touched");
	goes_wrong(VISITS_LATE, false, "what was freed is touched");
	goes_wrong(GOES_EARLY, false, "what was freed is touched");
	goes_wrong(VISITORS_FIRST, false, "what was freed is touched");
}

static void test_close_model_that_counts_or_closes_without_comparing_loses_a_fiber(void **state)
{
	struct explore e;

	(void)state;
	run(NO_COMPARISON, true, &e);
	assert_non_null(e.found);
	run(CLOSES_BLINDLY, true, &e);
	assert_non_null(e.found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_close_model_runs_whoever_was_counted_in_and_frees_last),
		cmocka_unit_test(test_close_model_without_a_visit_frees_what_a_waker_still_touches),
		cmocka_unit_test(
			test_close_model_that_counts_or_closes_without_comparing_loses_a_fiber),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
