/* SPDX-License-Identifier: MIT */
/*
 * test_start_queue_model.c - which carrier is notified of fibers to start, in every interleaving
 *
 * A carrier spawns fibers and then computes, a thief takes them, and two more carriers sleep or
 * search. fib_put_new() notifies a carrier only of the first fiber of the queue. The carrier that
 * takes that fiber notifies another one of the rest.
 *
 * The steps are those of sched.h, start_queue.c and idle.c. What happens under the queue's lock is
 * one step, and so is a look at the word after a fence (idle.gap, which has its own model). At the
 * end no carrier sleeps while a fiber waits to start.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "explore.h"
#include "tests/harness/watchdog.h"

enum { SPAWNER, THIEF, OTHER, THIRD, ACTORS };
enum { LOOK_EMPTY, PUT, NOTIFY, COMPUTES };
enum { STEAL = 8, COUNT_OUT, LOOK_ON, TELL, RUNS, LIE_DOWN, LAST_LOOK, ASLEEP };

enum broken {
	NOTHING,
	LOOKS_FIRST,  /* reads whether it is the first before it is queued (this bug occurred) */
	NO_SUCCESSOR, /* a carrier that took a fiber does not notify of the others */
	NO_LAST_LOOK, /* a carrier sleeps without another look */
	TELLS_NOBODY, /* no carrier is notified of the first fiber either */
};

struct model {
	uint8_t line, spawns, first, searching;
	uint8_t at[ACTORS];
};

static enum broken broken;

static void notify(struct model *m)
{
	unsigned who;

	if (m->searching)
		return;
	for (who = THIEF; who < ACTORS; who++) {
		if (m->at[who] != ASLEEP && m->at[who] != LAST_LOOK)
			continue;
		m->at[who] = STEAL;
		m->searching++;
		return;
	}
}

static bool step_spawner(struct model *m)
{
	uint8_t *at = &m->at[SPAWNER];

	switch (*at) {
	case LOOK_EMPTY:
		m->first = !m->line;
		*at = PUT;
		return true;
	case PUT:
		if (broken != LOOKS_FIRST)
			m->first = !m->line;
		m->line++;
		*at = NOTIFY;
		return true;
	case NOTIFY:
		if (m->first && broken != TELLS_NOBODY)
			notify(m);
		*at = !--m->spawns ? COMPUTES : broken == LOOKS_FIRST ? LOOK_EMPTY : PUT;
		return true;
	default:
		return false;
	}
}

static bool step_thief(struct model *m, unsigned who)
{
	uint8_t *at = &m->at[who];

	switch (*at) {
	case STEAL:
		*at = m->line ? COUNT_OUT : LIE_DOWN;
		m->line -= m->line != 0;
		return true;
	case COUNT_OUT:
		*at = --m->searching || broken == NO_SUCCESSOR ? RUNS : LOOK_ON;
		return true;
	case LOOK_ON:
		*at = m->line ? TELL : RUNS;
		return true;
	case TELL:
		notify(m);
		*at = RUNS;
		return true;
	case LIE_DOWN:
		m->searching--;
		*at = broken == NO_LAST_LOOK ? ASLEEP : LAST_LOOK;
		return true;
	case LAST_LOOK:
		m->searching += m->line != 0;
		*at = m->line ? STEAL : ASLEEP;
		return true;
	default:
		return false;
	}
}

static bool step(void *state, unsigned who)
{
	return who == SPAWNER ? step_spawner(state) : step_thief(state, who);
}

static const char *wrong(const void *state, bool final)
{
	const struct model *m = state;
	unsigned who;

	for (who = THIEF; final && m->line && who < ACTORS; who++)
		if (m->at[who] == ASLEEP)
			return "a carrier sleeps beside a fiber that waits to begin";
	return NULL;
}

/* searching: how many of the three search at first; the others sleep. */
static void run(enum broken rule, unsigned spawns, unsigned searching, struct explore *e)
{
	struct model first = {.spawns = (uint8_t)spawns, .searching = (uint8_t)searching};
	unsigned who;

	*e = (struct explore){sizeof first, ACTORS, step, wrong, 0, 0, NULL, ""};
	broken = rule;
	first.at[SPAWNER] = rule == LOOKS_FIRST ? LOOK_EMPTY : PUT;
	for (who = THIEF; who < ACTORS; who++)
		first.at[who] = who < THIEF + searching ? STEAL : ASLEEP;
	explore(e, &first);
}

static void test_fresh_model_lets_nobody_sleep_beside_a_fiber_that_waits_to_begin(void **state)
{
	struct explore e;
	unsigned spawns, searching;

	(void)state;
	for (spawns = 1; spawns < 5; spawns++) {
		for (searching = 0; searching < 4; searching++) {
			run(NOTHING, spawns, searching, &e);
			if (e.found)
				print_message("# %u, %u: %s: %s\n", spawns, searching, e.found,
					      e.way);
			assert_null(e.found);
			assert_true(e.states > 5 && e.finals > 0);
		}
	}
}

static void test_fresh_model_finds_what_each_rule_is_for(void **state)
{
	static const struct {
		enum broken rule;
		unsigned searching;
	} cases[] = {{LOOKS_FIRST, 0},
		     {LOOKS_FIRST, 1},
		     {NO_SUCCESSOR, 0},
		     {NO_LAST_LOOK, 1},
		     {TELLS_NOBODY, 0}};
	struct explore e;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		run(cases[i].rule, 3, cases[i].searching, &e);
		if (!e.found)
			print_message("# case %zu\n", i);
		assert_non_null(e.found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_fresh_model_lets_nobody_sleep_beside_a_fiber_that_waits_to_begin),
		cmocka_unit_test(test_fresh_model_finds_what_each_rule_is_for),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
