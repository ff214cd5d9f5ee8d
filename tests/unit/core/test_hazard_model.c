/* SPDX-License-Identifier: MIT */
/*
 * test_hazard_model.c - a held record stays its fiber's and is freed once, in every interleaving
 *
 * The actors are an exiting fiber and threads that act on it by its id; the steps are those of
 * hazard.c. Stores are buffered. A freed record belongs to another fiber at once.
 *
 * Then each rule is left out. The model must find that the other fiber is acted on, or that the
 * record is freed twice or never.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/watchdog.h"
#include "tests/unit/sched/explore.h"
#include "tests/unit/sched/memory.h"

enum { ENDER, HOLDER, ACTORS };
enum { ID, HOLD }; /* places */
enum { NONE, HELD, LEFT = 3 };
enum { MINE = 1 }; /* the intended id and owner */

enum ender { BEFORE, TAKE_ID, FENCE_END, LOOK, MARK, GIVE, ENDED };
enum holder { BEGIN, ANNOUNCE, FENCE, READ, ACT, RELEASE, RELEASED };

enum broken {
	NOTHING,
	ENDS_FENCE,	/* also correct: without membarrier(2) exiting fibers fence themselves */
	NO_BARRIER,	/* no fence on either side */
	READS_FIRST,	/* the id is read before the record is announced */
	GIVES_ANYWAY,	/* an exiting fiber does not look at the word */
	LOOKS_FIRST,	/* an exiting fiber looks before it clears the id */
	MARKS_BLINDLY,	/* the mark is stored, not exchanged for the word that was seen */
	LETS_GO_BLINDLY /* the holder does not look for the mark */
};
static enum broken broken;

struct model {
	struct memory memory;
	uint8_t at[ACTORS];
	uint8_t seen; /* the word, as the exiting fiber read it */
	uint8_t id;   /* the id, as the holder read it */
	uint8_t given, wronged;
};

static void give(struct model *m)
{
	m->given++;
}

static bool step_ender(struct model *m)
{
	struct memory *memory = &m->memory;
	uint8_t *at = &m->at[ENDER];

	switch (*at) {
	case BEFORE:
		if (broken == LOOKS_FIRST)
			m->seen = memory_load(memory, ENDER, HOLD);
		*at = TAKE_ID;
		return true;
	case TAKE_ID:
		if (!memory_store_release(memory, ENDER, ID, 0))
			return false;
		*at = FENCE_END;
		return true;
	case FENCE_END:
		if (broken == ENDS_FENCE && !memory_drained(memory, ENDER))
			return false;
		*at = LOOK;
		return true;
	case LOOK:
		if (broken != LOOKS_FIRST)
			m->seen = memory_load(memory, ENDER, HOLD);
		*at = m->seen == NONE || broken == GIVES_ANYWAY ? GIVE : MARK;
		return true;
	case MARK:
		if (!memory_drained(memory, ENDER))
			return false;
		*at = ENDED;
		if (broken == MARKS_BLINDLY)
			memory_swap(memory, HOLD, LEFT);
		else if (!memory_cas(memory, HOLD, HELD, LEFT))
			*at = GIVE;
		return true;
	case GIVE:
		give(m);
		*at = ENDED;
		return true;
	default:
		return false;
	}
}

static bool step_holder(struct model *m)
{
	struct memory *memory = &m->memory;
	uint8_t *at = &m->at[HOLDER];

	switch (*at) {
	case BEGIN:
		if (broken == READS_FIRST)
			m->id = memory_load(memory, HOLDER, ID);
		*at = ANNOUNCE;
		return true;
	case ANNOUNCE:
		memory_swap(memory, HOLD, HELD);
		*at = FENCE;
		return true;
	case FENCE:
		if (broken != NO_BARRIER && broken != ENDS_FENCE)
			memory_drain(memory, ENDER);
		*at = READ;
		return true;
	case READ:
		if (broken != READS_FIRST)
			m->id = memory_load(memory, HOLDER, ID);
		*at = m->id == MINE ? ACT : RELEASE;
		return true;
	case ACT:
		m->wronged = m->given > 0;
		*at = RELEASE;
		return true;
	case RELEASE:
		if (memory_swap(memory, HOLD, NONE) == LEFT && broken != LETS_GO_BLINDLY)
			give(m);
		*at = RELEASED;
		return true;
	default:
		return false;
	}
}

static bool step(void *state, unsigned actor)
{
	struct model *m = state;

	if (actor >= ACTORS)
		return memory_flush(&m->memory, actor - ACTORS);
	return actor == ENDER ? step_ender(m) : step_holder(m);
}

static const char *wrong(const void *state, bool final)
{
	const struct model *m = state;

	if (m->wronged)
		return "another fiber was acted on";
	if (m->given > 1)
		return "the record is given away twice";
	if (final && !m->given)
		return "the record is lost";
	return NULL;
}

/* The first error found, NULL if none, in the weaker of the two memories that shows it. */
static const char *found(enum broken what)
{
	const struct model first = {.memory = {.at = {[ID] = MINE}}};
	struct explore e = {
		sizeof first, ACTORS + MEMORY_FLUSHERS(ACTORS), step, wrong, 0, 0, NULL, ""};

	broken = what;
	for (memory_model = MEMORY_TSO; memory_model <= MEMORY_WEAK && !e.found; memory_model++) {
		explore(&e, &first);
		assert_true(e.found || e.finals > 0);
	}
	return e.found;
}

static void test_hold_model_is_right_whoever_fences(void **state)
{
	(void)state;
	assert_null(found(NOTHING));
	assert_null(found(ENDS_FENCE));
}

static void test_hold_model_without_a_rule_acts_on_another_fiber(void **state)
{
	(void)state;
	assert_string_equal(found(NO_BARRIER), "another fiber was acted on");
	assert_string_equal(found(READS_FIRST), "another fiber was acted on");
	assert_string_equal(found(GIVES_ANYWAY), "another fiber was acted on");
	assert_string_equal(found(LOOKS_FIRST), "another fiber was acted on");
}

static void test_hold_model_without_comparing_loses_the_record(void **state)
{
	(void)state;
	assert_string_equal(found(MARKS_BLINDLY), "the record is lost");
	assert_string_equal(found(LETS_GO_BLINDLY), "the record is lost");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hold_model_is_right_whoever_fences),
		cmocka_unit_test(test_hold_model_without_a_rule_acts_on_another_fiber),
		cmocka_unit_test(test_hold_model_without_comparing_loses_the_record),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
