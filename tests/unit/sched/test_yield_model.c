/* SPDX-License-Identifier: MIT */
/*
 * test_yield_model.c - a fiber that is queued before it has left its stack, in every interleaving
 *
 * One fiber yields to another, while a thief looks for work and sleeps when it finds none. The
 * steps are those of switch.c (fib_yield, go), arch.h (left) and carrier.c (await_left,
 * fib_idle_sleep); a take or a steal is one step.
 *
 * A yield notifies no carrier, so the queue must not be empty for a moment. A carrier that takes a
 * fiber waits until the fiber has left its stack, or two carriers would run on one stack.
 *
 * The model also shows why that wait is in the idle context: two fibers, each woken on the other's
 * carrier while it leaves its own, would wait for each other on their stacks.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "explore.h"
#include "tests/harness/watchdog.h"

enum { OWNER, THIEF, ACTORS };
enum { NOBODY, YIELDS, OTHER, FIBERS };

enum { ALONE, PUT, TAKE, SAVE, LEAVE, SAY, ENTER, AWAIT_LEFT, STEAL, LIE_DOWN, LOOK, ASLEEP, RUNS };

enum broken {
	NOTHING,
	PUT_LATE,	/* the fiber is queued only after the next one has been taken */
	NO_WAIT,	/* the carrier that takes a fiber does not wait until it has left */
	SAID_EARLY,	/* a fiber is marked as left before its registers are saved */
	STACK_LATE,	/* marked as left before the stack pointer changes (a real bug) */
	WAITS_ON_STACK, /* a fiber waits for the other one to leave before it has left itself */
};

struct model {
	uint8_t line[2];       /* the owner's queue, oldest first */
	uint8_t seq[FIBERS];   /* odd: the fiber has not left its stack */
	uint8_t saved[FIBERS]; /* its registers are saved */
	uint8_t uses[FIBERS];  /* how many carriers run on its stack */
	uint8_t at[ACTORS], has[ACTORS], yields, fault;
};

static enum broken broken;

static void put(struct model *m, uint8_t fiber)
{
	m->line[m->line[0] != NOBODY] = fiber;
}

static uint8_t take(struct model *m)
{
	uint8_t fiber = m->line[0];

	m->line[0] = m->line[1];
	m->line[1] = NOBODY;
	return fiber;
}

/* From now on a carrier runs the fiber. */
static void enter(struct model *m, unsigned who)
{
	const uint8_t fiber = m->has[who];

	m->fault |= !m->saved[fiber];
	m->saved[fiber] = 0;
	m->seq[fiber] = 1;
	m->fault |= ++m->uses[fiber] > 1;
	m->at[who] = fiber == YIELDS && who == OWNER && m->yields ? ALONE : RUNS;
}

/* Switch away from the yielding fiber, in the order of the rule. */
static bool leave(struct model *m)
{
	uint8_t *at = &m->at[OWNER];

	switch (*at) {
	case SAVE:
		m->saved[YIELDS] = 1;
		*at = broken == SAID_EARLY ? LEAVE : broken == STACK_LATE ? SAY : LEAVE;
		return true;
	case LEAVE:
		m->uses[YIELDS]--;
		*at = broken == STACK_LATE || broken == SAID_EARLY ? ENTER : SAY;
		return true;
	case SAY:
		m->seq[YIELDS] = 0;
		*at = broken == STACK_LATE ? LEAVE : broken == SAID_EARLY ? SAVE : ENTER;
		return true;
	default: /* ENTER: the next fiber, or the idle context, where it waits */
		if (!m->has[OWNER])
			m->has[OWNER] = take(m);
		if (!m->has[OWNER])
			return false;
		*at = AWAIT_LEFT;
		return true;
	}
}

static bool step_owner(struct model *m)
{
	uint8_t *at = &m->at[OWNER];

	switch (*at) {
	case ALONE:
		*at = m->line[0] == NOBODY ? RUNS : broken == PUT_LATE ? TAKE : PUT;
		m->yields--;
		return true;
	case PUT:
		put(m, YIELDS);
		*at = broken == PUT_LATE ? SAVE : TAKE;
		return true;
	case TAKE:
		m->has[OWNER] = take(m);
		*at = m->has[OWNER] == YIELDS ? RUNS
		      : broken == PUT_LATE    ? PUT
		      : broken == SAID_EARLY  ? SAY
					      : SAVE;
		return true;
	case AWAIT_LEFT:
		if (broken != NO_WAIT && (m->seq[m->has[OWNER]] & 1))
			return false;
		enter(m, OWNER);
		return true;
	case RUNS:
		return false;
	default:
		return leave(m);
	}
}

static bool step_thief(struct model *m)
{
	uint8_t *at = &m->at[THIEF];

	switch (*at) {
	case STEAL:
		m->has[THIEF] = take(m);
		*at = m->has[THIEF] ? AWAIT_LEFT : LIE_DOWN;
		return true;
	case LIE_DOWN:
		*at = LOOK;
		return true;
	case LOOK:
		*at = m->line[0] ? STEAL : ASLEEP;
		return true;
	case AWAIT_LEFT:
		if (broken != NO_WAIT && (m->seq[m->has[THIEF]] & 1))
			return false;
		enter(m, THIEF);
		return true;
	default:
		return false;
	}
}

static bool step(void *state, unsigned who)
{
	struct model *m = state;

	if (m->fault)
		return false;
	return who == OWNER ? step_owner(m) : step_thief(m);
}

static const char *wrong(const void *state, bool final)
{
	const struct model *m = state;

	if (m->fault)
		return "two carriers run on one stack";
	if (final && m->at[THIEF] == ASLEEP && m->line[0])
		return "a thief sleeps beside work";
	return final && m->at[OWNER] != RUNS && m->at[OWNER] != ENTER ? "a carrier waits for ever"
								      : NULL;
}

static void run(enum broken rule, unsigned yields, struct explore *e)
{
	struct model first = {.line = {OTHER, NOBODY},
			      .seq = {0, 1, 0},
			      .saved = {0, 0, 1},
			      .uses = {0, 1, 0},
			      .at = {ALONE, STEAL},
			      .yields = (uint8_t)yields};

	*e = (struct explore){sizeof first, ACTORS, step, wrong, 0, 0, NULL, ""};
	broken = rule;
	explore(e, &first);
}

static void test_yield_model_keeps_the_line_full_and_every_stack_to_one_carrier(void **state)
{
	struct explore e;
	unsigned yields;

	(void)state;
	for (yields = 1; yields < 4; yields++) {
		run(NOTHING, yields, &e);
		if (e.found)
			print_message("# %s: %s\n", e.found, e.way);
		assert_null(e.found);
		assert_true(e.states > 20 && e.finals > 0);
	}
}

static void goes_wrong(enum broken rule, const char *expected)
{
	struct explore e;

	run(rule, 1, &e);
	assert_non_null(e.found);
	assert_string_equal(e.found, expected);
}

static void test_yield_model_that_takes_before_it_puts_leaves_a_thief_asleep(void **state)
{
	(void)state;
	goes_wrong(PUT_LATE, "a thief sleeps beside work");
}

static void test_yield_model_that_does_not_wait_until_it_has_left_runs_on_one_stack(void **state)
{
	(void)state;
	goes_wrong(NO_WAIT, "two carriers run on one stack");
	goes_wrong(SAID_EARLY, "two carriers run on one stack");
	goes_wrong(STACK_LATE, "two carriers run on one stack");
}

/* -- two fibers, each woken on the other's carrier -- */

static bool step_crossed(void *state, unsigned who)
{
	struct model *m = state;
	const unsigned mine = who + 1, next = 2 - who;

	switch (m->at[who]) {
	case LOOK: /* at the next fiber, still on its own stack */
		if (broken == WAITS_ON_STACK && (m->seq[next] & 1))
			return false;
		m->at[who] = LEAVE;
		return true;
	case LEAVE:
		m->seq[mine] = 0;
		m->at[who] = AWAIT_LEFT;
		return true;
	case AWAIT_LEFT:
		if (m->seq[next] & 1)
			return false;
		m->at[who] = RUNS;
		return true;
	default:
		return false;
	}
}

static const char *wrong_crossed(const void *state, bool final)
{
	const struct model *m = state;

	return final && (m->at[0] != RUNS || m->at[1] != RUNS) ? "two wait for each other" : NULL;
}

static void test_yield_model_of_two_that_wait_on_their_stacks_waits_for_ever(void **state)
{
	const struct model first = {.seq = {0, 1, 1}, .at = {LOOK, LOOK}};
	struct explore e = {sizeof first, ACTORS, step_crossed, wrong_crossed, 0, 0, NULL, ""};

	(void)state;
	broken = NOTHING;
	explore(&e, &first);
	assert_null(e.found);
	assert_true(e.finals > 0);
	broken = WAITS_ON_STACK;
	explore(&e, &first);
	assert_non_null(e.found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_yield_model_keeps_the_line_full_and_every_stack_to_one_carrier),
		cmocka_unit_test(test_yield_model_that_takes_before_it_puts_leaves_a_thief_asleep),
		cmocka_unit_test(
			test_yield_model_that_does_not_wait_until_it_has_left_runs_on_one_stack),
		cmocka_unit_test(test_yield_model_of_two_that_wait_on_their_stacks_waits_for_ever),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
