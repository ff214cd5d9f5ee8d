/* SPDX-License-Identifier: MIT */
/*
 * test_sole_model.c - the end of the sole use of objects, in every interleaving
 *
 * The sole thread adds 1 to a word three times, in sections and without locked instructions as long
 * as it may; two other threads end that, one of them late, and add 1 each with a locked instruction.
 * The steps are those of sole.h and sole.c, for sections that are counted and for fib_sole_swap64(),
 * which reads `alone` and not the user. Stores are buffered.
 *
 * At the end the word must have all additions. Then each rule is left out, and the model must find
 * that one is lost.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/watchdog.h"
#include "tests/unit/sched/explore.h"
#include "tests/unit/sched/memory.h"

#define TURNS  3u
#define OTHERS 2u

enum { SOLE, ACTORS = SOLE + 1 + OTHERS };
enum { USER, INSIDE, WORD, ALONE };  /* places */
enum { SHARED, ENDING, THE_THREAD }; /* values of USER */

enum at {
	LOOK, /* the sole thread */
	ENTER,
	LOOK_AGAIN,
	READ_WORD,
	WRITE_WORD,
	LEAVE,
	RETREAT,
	READ_USER, /* the others, and the sole thread when it may not enter */
	SAY_ENDING,
	SAY_NOT_ALONE,
	FENCE,
	AWAIT_OUTSIDE,
	SAY_SHARED,
	ADD,
	DONE
};

enum broken {
	NOTHING,
	NO_BARRIER,	/* the others do not make the sole thread execute a fence */
	NO_SECOND_LOOK, /* the sole thread looks only before it says that it is inside */
	NO_AWAIT,	/* the others do not wait until it is outside */
	LEAVES_EARLY, /* `inside` is stored without release: it may overtake the section's stores */
	NO_FENCE,     /* the others do not wait until ALONE is visible */
};
static enum broken broken;
static bool swaps; /* fib_sole_swap64() */

struct model {
	struct memory memory;
	uint8_t at[ACTORS], turns[ACTORS];
	uint8_t user[ACTORS], word; /* as last read */
};

/* Locked instructions wait until the actor's stores are visible. */
static bool locked(struct model *m, unsigned who)
{
	return memory_drained(&m->memory, who);
}

static void next_turn(struct model *m, unsigned who)
{
	m->at[who] = --m->turns[who] ? (who == SOLE ? swaps ? ENTER : LOOK : READ_USER) : DONE;
}

/* fib_sole_enter(), the section, fib_sole_leave() */
static bool step_section(struct model *m)
{
	struct memory *memory = &m->memory;
	uint8_t *at = &m->at[SOLE];

	switch (*at) {
	case LOOK:
		*at = memory_load(memory, SOLE, USER) == THE_THREAD ? ENTER : ADD;
		return true;
	case ENTER:
		if (!memory_store(memory, SOLE, INSIDE, 1))
			return false;
		*at = broken == NO_SECOND_LOOK ? READ_WORD : LOOK_AGAIN;
		return true;
	case LOOK_AGAIN:
		if (swaps)
			*at = memory_load(memory, SOLE, ALONE) ? READ_WORD : RETREAT;
		else
			*at = memory_load(memory, SOLE, USER) == THE_THREAD ? READ_WORD : RETREAT;
		return true;
	case READ_WORD:
		m->word = memory_load(memory, SOLE, WORD);
		*at = WRITE_WORD;
		return true;
	case WRITE_WORD:
		if (!memory_store(memory, SOLE, WORD, m->word + 1))
			return false;
		*at = LEAVE;
		return true;
	case LEAVE:
		if (!memory_put(memory, SOLE, INSIDE, 0, broken != LEAVES_EARLY))
			return false;
		next_turn(m, SOLE);
		return true;
	default: /* RETREAT */
		if (!memory_store_release(memory, SOLE, INSIDE, 0))
			return false;
		*at = ADD;
		return true;
	}
}

/* fib_sole_share(), and a locked instruction */
static bool step_share(struct model *m, unsigned who)
{
	struct memory *memory = &m->memory;
	uint8_t *at = &m->at[who];

	switch (*at) {
	case READ_USER:
		m->user[who] = memory_load(memory, who, USER);
		*at = m->user[who] == SHARED   ? ADD
		      : m->user[who] == ENDING ? SAY_NOT_ALONE
					       : SAY_ENDING;
		return true;
	case SAY_ENDING:
		if (!locked(m, who))
			return false;
		*at = memory_cas(memory, USER, m->user[who], ENDING) ? SAY_NOT_ALONE : READ_USER;
		return true;
	case SAY_NOT_ALONE:
		if (!memory_store(memory, who, ALONE, 0))
			return false;
		*at = FENCE;
		return true;
	case FENCE:
		if (!locked(m, who) && broken != NO_FENCE)
			return false;
		if (broken != NO_BARRIER)
			memory_drain(memory, SOLE);
		*at = AWAIT_OUTSIDE;
		return true;
	case AWAIT_OUTSIDE:
		if (memory_load(memory, who, INSIDE) && broken != NO_AWAIT)
			return false;
		*at = SAY_SHARED;
		return true;
	case SAY_SHARED:
		if (!locked(m, who))
			return false;
		*at = memory_cas(memory, USER, ENDING, SHARED) ? ADD : READ_USER;
		return true;
	default: /* ADD */
		if (!locked(m, who))
			return false;
		memory_swap(memory, WORD, (uint8_t)(memory_load(memory, who, WORD) + 1));
		next_turn(m, who);
		return true;
	}
}

static bool step(void *state, unsigned actor)
{
	struct model *m = state;

	if (actor >= ACTORS)
		return memory_flush(&m->memory, actor - ACTORS);
	if (m->at[actor] == DONE)
		return false;
	return m->at[actor] <= RETREAT ? step_section(m) : step_share(m, actor);
}

static const char *wrong(const void *state, bool final)
{
	const struct model *m = state;
	unsigned i;

	if (!final)
		return NULL;
	for (i = 0; i < ACTORS; i++)
		if (m->at[i] != DONE)
			return "a thread waits for ever";
	return m->memory.at[WORD] != TURNS + OTHERS ? "an addition is lost" : NULL;
}

static void run(enum broken rule, enum memory_order_model order, struct explore *e)
{
	struct model first = {.turns = {TURNS, 1, 1}, .at = {LOOK, READ_USER, READ_USER}};

	if (swaps)
		first.at[SOLE] = ENTER;

	*e = (struct explore){
		sizeof first, ACTORS + MEMORY_FLUSHERS(ACTORS), step, wrong, 0, 0, NULL, ""};
	broken = rule;
	memory_model = order;
	first.memory.at[USER] = THE_THREAD;
	first.memory.at[ALONE] = 1;
	explore(e, &first);
}

static void test_sole_model_loses_no_addition(void **state)
{
	struct explore e;

	(void)state;
	for (int i = 0; i < 4; i++) {
		swaps = i & 1;
		run(NOTHING, i & 2 ? MEMORY_WEAK : MEMORY_TSO, &e);
		if (e.found)
			print_message("# %s: %s\n", e.found, e.way);
		assert_null(e.found);
		assert_true(e.states > 200 && e.finals > 0);
	}
}

static void loses(enum broken rule, enum memory_order_model order)
{
	struct explore e;

	for (int i = 0; i < 2; i++) {
		swaps = i;
		if (rule == NO_SECOND_LOOK && swaps)
			continue; /* it has only one */
		run(rule, order, &e);
		assert_non_null(e.found);
		assert_string_equal(e.found, "an addition is lost");
	}
}

static void test_sole_model_without_the_barrier_loses_an_addition(void **state)
{
	(void)state;
	loses(NO_BARRIER, MEMORY_TSO);
}

static void test_sole_model_without_a_fence_of_the_others_loses_an_addition(void **state)
{
	struct explore e;

	(void)state;
	swaps = true;
	run(NO_FENCE, MEMORY_TSO, &e);
	assert_non_null(e.found);
	assert_string_equal(e.found, "an addition is lost");
}

static void test_sole_model_that_looks_only_before_it_is_inside_loses_an_addition(void **state)
{
	(void)state;
	loses(NO_SECOND_LOOK, MEMORY_TSO);
}

static void test_sole_model_that_does_not_await_the_section_loses_an_addition(void **state)
{
	(void)state;
	loses(NO_AWAIT, MEMORY_TSO);
}

static void test_sole_model_that_leaves_without_release_loses_an_addition(void **state)
{
	(void)state;
	loses(LEAVES_EARLY, MEMORY_WEAK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sole_model_loses_no_addition),
		cmocka_unit_test(test_sole_model_without_the_barrier_loses_an_addition),
		cmocka_unit_test(test_sole_model_without_a_fence_of_the_others_loses_an_addition),
		cmocka_unit_test(
			test_sole_model_that_looks_only_before_it_is_inside_loses_an_addition),
		cmocka_unit_test(test_sole_model_that_does_not_await_the_section_loses_an_addition),
		cmocka_unit_test(test_sole_model_that_leaves_without_release_loses_an_addition),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
