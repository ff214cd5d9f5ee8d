/* SPDX-License-Identifier: MIT */
/*
 * test_park_model.c - tokens and parks, in every interleaving and with buffered stores
 *
 * One fiber parks a number of times, two others unpark it; the steps are those of park.c. There is
 * at most one token, however many unparks come before it is used. An unpark after the last park
 * began must have ended that park, every park returns for a token, and no two returns are for one
 * token.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/watchdog.h"
#include "tests/unit/sched/explore.h"
#include "tests/unit/sched/memory.h"

enum { PARKER, ONE, TWO, ACTORS };
enum { TOKEN, WORD }; /* places */
enum { IDLE, ARMED, WOKEN };
#define OUTCOME(word)	 ((word)&3)
#define WITH(word, what) ((uint8_t)(((word) & ~3u) | (what)))

enum at {
	TAKE, /* takes the token */
	ARM,
	FENCE,
	LOOK,
	RETRACT,
	ASLEEP,
	LEAVE_TOKEN,
	UNPARK_FENCE,
	READ,
	CLAIM,
	READY,
	END,
};

enum broken {
	NOTHING,
	NO_PARK_FENCE,	   /* arms and looks, without a fence in between */
	NO_SECOND_LOOK,	   /* looks for a token only before its wait is armed */
	READS_FIRST,	   /* the unparker reads the word before it leaves its token */
	RETURNS_ON_WAKE,   /* assumes that its waker left a token */
	NO_RETREAT,	   /* sees a token and leaves without retracting the wait */
	CLAIMS_UNCOMPARED, /* claims any word without comparing it */
};

struct model {
	struct memory memory;
	uint8_t at[ACTORS], parks, unparks[ACTORS], seen[ACTORS];
	uint8_t returned, left; /* parks that returned; tokens left where there was none */
	uint8_t runs;
};

static enum broken broken;

static void returned(struct model *m)
{
	m->returned++;
	m->at[PARKER] = --m->parks ? TAKE : END;
}

static bool step_parker(struct model *m)
{
	struct memory *memory = &m->memory;
	uint8_t *at = &m->at[PARKER], word;

	switch (*at) {
	case TAKE:
		if (!memory_drained(memory, PARKER))
			return false;
		*at = ARM;
		if (memory_swap(memory, TOKEN, 0))
			returned(m);
		return true;
	case ARM:
		word = memory_load(memory, PARKER, WORD);
		word = WITH(word + 4u, ARMED);
		if (!memory_store_release(memory, PARKER, WORD, word))
			return false;
		*at = broken == NO_SECOND_LOOK ? ASLEEP : broken == NO_PARK_FENCE ? LOOK : FENCE;
		return true;
	case FENCE:
		if (!memory_drained(memory, PARKER))
			return false;
		*at = LOOK;
		return true;
	case LOOK:
		*at = memory_load(memory, PARKER, TOKEN) ? RETRACT : ASLEEP;
		if (*at == RETRACT && broken == NO_RETREAT)
			*at = TAKE;
		return true;
	case RETRACT:
		if (!memory_drained(memory, PARKER))
			return false;
		word = memory->at[WORD];
		*at = memory_cas(memory, WORD, WITH(word, ARMED), WITH(word, IDLE)) ? TAKE : ASLEEP;
		return true;
	case ASLEEP:
		if (!m->runs)
			return false;
		m->runs--;
		*at = TAKE;
		if (broken == RETURNS_ON_WAKE) {
			memory_swap(memory, TOKEN, 0);
			returned(m);
		}
		return true;
	default:
		return false;
	}
}

static bool step_unparker(struct model *m, unsigned who)
{
	struct memory *memory = &m->memory;
	uint8_t *at = &m->at[who];

	switch (*at) {
	case LEAVE_TOKEN:
		m->left += !memory_swap(memory, TOKEN, 1);
		*at = broken == READS_FIRST ? CLAIM : UNPARK_FENCE;
		return true;
	case UNPARK_FENCE:
		*at = READ;
		return memory_drained(memory, who);
	case READ:
		m->seen[who] = memory_load(memory, who, WORD);
		*at = broken == READS_FIRST ? LEAVE_TOKEN : CLAIM;
		return true;
	case CLAIM:
		*at = READY;
		if (OUTCOME(m->seen[who]) == ARMED) {
			if (memory_cas(memory, WORD, m->seen[who], WITH(m->seen[who], WOKEN)))
				return true;
			if (broken == CLAIMS_UNCOMPARED) {
				memory_swap(memory, WORD, WITH(m->seen[who], WOKEN));
				return true;
			}
		}
		break;
	case READY:
		m->runs++;
		break;
	default:
		return false;
	}
	*at = END;
	if (--m->unparks[who])
		*at = broken == READS_FIRST ? READ : LEAVE_TOKEN;
	return true;
}

static bool step(void *state, unsigned actor)
{
	struct model *m = state;

	if (actor >= ACTORS)
		return memory_flush(&m->memory, actor - ACTORS);
	return actor == PARKER ? step_parker(m) : step_unparker(m, actor);
}

static const char *wrong(const void *state, bool final)
{
	const struct model *m = state;

	if (m->runs > 1)
		return "the fiber is in two run queues";
	if (m->returned > m->left)
		return "a park returned without a token";
	if (!final)
		return NULL;
	if (m->returned + m->memory.at[TOKEN] != m->left)
		return "a token is lost";
	if (m->at[PARKER] != END)
		return m->memory.at[TOKEN] ? "a fiber sleeps beside its token" : NULL;
	return m->runs ? "a fiber that does not sleep is in a run queue" : NULL;
}

static void run(enum broken rule, unsigned parks, unsigned one, unsigned two, struct explore *e)
{
	const uint8_t start = rule == READS_FIRST ? READ : LEAVE_TOKEN;
	struct model first = {.parks = (uint8_t)parks, .unparks = {0, (uint8_t)one, (uint8_t)two}};

	*e = (struct explore){
		sizeof first, ACTORS + MEMORY_FLUSHERS(ACTORS), step, wrong, 0, 0, NULL, ""};
	broken = rule;
	first.at[ONE] = one ? start : END;
	first.at[TWO] = two ? start : END;
	explore(e, &first);
}

static void test_park_model_loses_and_makes_no_token(void **state)
{
	struct explore e;
	unsigned parks, one, two;

	(void)state;
	for (memory_model = MEMORY_TSO; memory_model <= MEMORY_WEAK; memory_model++) {
		for (parks = 1; parks <= 3; parks++) {
			for (one = 1; one <= 2; one++) {
				for (two = 0; two <= 2; two++) {
					run(NOTHING, parks, one, two, &e);
					if (e.found)
						print_message("# %s: %s\n", e.found, e.way);
					assert_null(e.found);
					assert_true(e.states > 10 && e.finals > 0);
				}
			}
		}
	}
}

static void goes_wrong(enum broken rule, unsigned parks, unsigned one, unsigned two,
		       const char *what)
{
	struct explore e;

	memory_model = MEMORY_TSO;
	run(rule, parks, one, two, &e);
	assert_non_null(e.found);
	assert_string_equal(e.found, what);
	assert_true(e.way[0]);
}

static void test_park_model_without_the_fence_sleeps_beside_the_token(void **state)
{
	(void)state;
	goes_wrong(NO_PARK_FENCE, 1, 1, 0, "a fiber sleeps beside its token");
}

static void test_park_model_with_the_looks_in_another_order_sleeps_beside_the_token(void **state)
{
	(void)state;
	goes_wrong(NO_SECOND_LOOK, 1, 1, 0, "a fiber sleeps beside its token");
	goes_wrong(READS_FIRST, 1, 1, 0, "a fiber sleeps beside its token");
}

static void test_park_model_that_trusts_its_waker_returns_without_a_token(void **state)
{
	(void)state;
	/*
	 * The waker left its token earlier, and another park took that token. Only now does the
	 * waker find an armed wait.
	 */
	goes_wrong(RETURNS_ON_WAKE, 2, 1, 0, "a park returned without a token");
}

static void test_park_model_that_leaves_an_armed_wait_is_made_to_run_later(void **state)
{
	(void)state;
	goes_wrong(NO_RETREAT, 1, 1, 0, "a fiber that does not sleep is in a run queue");
}

static void test_park_model_that_wakes_without_comparing_runs_a_fiber_twice(void **state)
{
	(void)state;
	goes_wrong(CLAIMS_UNCOMPARED, 1, 1, 1, "the fiber is in two run queues");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_park_model_loses_and_makes_no_token),
		cmocka_unit_test(test_park_model_without_the_fence_sleeps_beside_the_token),
		cmocka_unit_test(
			test_park_model_with_the_looks_in_another_order_sleeps_beside_the_token),
		cmocka_unit_test(test_park_model_that_trusts_its_waker_returns_without_a_token),
		cmocka_unit_test(test_park_model_that_leaves_an_armed_wait_is_made_to_run_later),
		cmocka_unit_test(test_park_model_that_wakes_without_comparing_runs_a_fiber_twice),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
