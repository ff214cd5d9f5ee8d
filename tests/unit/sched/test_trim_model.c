/* SPDX-License-Identifier: MIT */
/*
 * test_trim_model.c - a stack is trimmed, or its fiber runs, but never both at a time
 *
 * One carrier trims a stack, another one switches to its fiber (trim.c). The steps are theirs; stores
 * are buffered (memory.h). Each step of the rule can be left out, and the model must find what it was
 * for.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/watchdog.h"
#include "tests/unit/sched/explore.h"
#include "tests/unit/sched/memory.h"

enum { TRIMMER, RUNNER, SIDES };
enum { MARK, MARKS, SEQ }; /* places */
enum { NO_MARK, MARKED, BUSY };
enum { EVEN, ODD };

/* The steps of both sides. */
enum { SET_MARK, SET_MARKS, FENCE, CLAIM, LOOK, DROP, ERASE, CLEAR_MARKS, TRIMMED };
enum { MAKE_ODD, READ_MARKS, READ_MARK, TAKE_BACK, AWAIT, RUN, LEAVE, RAN };

struct model {
	struct memory memory;
	uint8_t at[SIDES], mark, drops, runs;
};

static struct {
	bool fences;	 /* the trimmer executes the fence of the runner too */
	bool claims;	 /* it makes the mark BUSY before it drops */
	bool looks;	 /* it reads seq again */
	bool takes_back; /* the runner takes back a mark that is not BUSY */
	bool awaits;	 /* the runner waits for one that is */
	bool odd_first;	 /* the runner makes seq odd before it reads the marks */
} rule;

static const struct {
	bool fences, claims, looks, takes_back, awaits, odd_first;
} whole = {true, true, true, true, true, true};

static bool step_trimmer(struct model *m)
{
	struct memory *mem = &m->memory;
	uint8_t *at = &m->at[TRIMMER];

	switch (*at) {
	case SET_MARK:
		*at = SET_MARKS;
		return memory_store(mem, TRIMMER, MARK, MARKED);
	case SET_MARKS:
		*at = FENCE;
		return memory_store(mem, TRIMMER, MARKS, 1);
	case FENCE:
		if (!memory_drained(mem, TRIMMER))
			return false;
		if (rule.fences)
			memory_drain(mem, RUNNER);
		*at = CLAIM;
		return true;
	case CLAIM:
		*at = LOOK;
		if (rule.claims && !memory_cas(mem, MARK, MARKED, BUSY))
			*at = CLEAR_MARKS;
		return true;
	case LOOK:
		*at = rule.looks && memory_load(mem, TRIMMER, SEQ) == ODD ? ERASE : DROP;
		m->drops = *at == DROP;
		return true;
	case DROP:
		m->drops = 0;
		*at = ERASE;
		return true;
	case ERASE:
		*at = CLEAR_MARKS;
		return memory_store_release(mem, TRIMMER, MARK, NO_MARK);
	case CLEAR_MARKS:
		*at = TRIMMED;
		return memory_store_release(mem, TRIMMER, MARKS, 0);
	default:
		return false;
	}
}

/* What the runner does after it has read the mark. */
static uint8_t after_mark(const struct model *m)
{
	if (m->mark == MARKED && rule.takes_back)
		return TAKE_BACK;
	return m->mark == BUSY && rule.awaits ? AWAIT : RUN;
}

/* A store of the runner has its place in the buffer: it may leave long after. */
static void go_on(struct model *m, uint8_t next)
{
	m->at[RUNNER] = next;
	m->runs = next == RUN;
}

static bool step_runner(struct model *m)
{
	struct memory *mem = &m->memory;

	switch (m->at[RUNNER]) {
	case MAKE_ODD:
		go_on(m, rule.odd_first ? READ_MARKS : RUN);
		return memory_store(mem, RUNNER, SEQ, ODD);
	case READ_MARKS:
		if (memory_load(mem, RUNNER, MARKS))
			go_on(m, READ_MARK);
		else
			go_on(m, rule.odd_first ? RUN : MAKE_ODD);
		return true;
	case READ_MARK:
		m->mark = memory_load(mem, RUNNER, MARK);
		go_on(m, after_mark(m));
		return true;
	case TAKE_BACK:
		if (!memory_drained(mem, RUNNER))
			return false;
		go_on(m, memory_cas(mem, MARK, MARKED, NO_MARK) ? RUN : AWAIT);
		return true;
	case AWAIT:
		if (memory_load(mem, RUNNER, MARK) == BUSY)
			return false;
		go_on(m, RUN);
		return true;
	case RUN:
		go_on(m, LEAVE);
		return true;
	case LEAVE:
		go_on(m, RAN);
		return true;
	default:
		return false;
	}
}

static bool step(void *state, unsigned actor)
{
	struct model *m = state;

	if (actor >= SIDES)
		return memory_flush(&m->memory, actor - SIDES);
	return actor == TRIMMER ? step_trimmer(m) : step_runner(m);
}

static const char *wrong(const void *state, bool final)
{
	const struct model *m = state;

	if (m->drops && m->runs)
		return "pages are dropped while the fiber runs";
	return final && (m->at[TRIMMER] != TRIMMED || m->at[RUNNER] != RAN)
		       ? "a side waits for ever"
		       : NULL;
}

/* Under the rule that was set. */
static bool fails(void)
{
	struct model first = {.drops = 0};
	struct explore e = {
		sizeof first, SIDES + MEMORY_FLUSHERS(SIDES), step, wrong, 0, 0, NULL, ""};
	bool failed = false;

	if (!rule.odd_first)
		first.at[RUNNER] = READ_MARKS;
	for (memory_model = MEMORY_TSO; memory_model <= MEMORY_WEAK; memory_model++) {
		explore(&e, &first);
		assert_true(e.found || e.finals > 0);
		failed = failed || e.found;
	}
	return failed;
}

static void reset(void)
{
	memcpy(&rule, &whole, sizeof rule);
}

static void test_trim_model_never_drops_while_the_fiber_runs(void **state)
{
	(void)state;
	reset();
	assert_false(fails());
}

static void test_trim_model_needs_each_step(void **state)
{
	bool *const steps[] = {&rule.fences, &rule.claims,     &rule.looks,
			       &rule.awaits, &rule.takes_back, &rule.odd_first};

	(void)state;
	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		reset();
		*steps[i] = false;
		if (!fails())
			fail_msg("nothing is wrong without step %zu", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trim_model_never_drops_while_the_fiber_runs),
		cmocka_unit_test(test_trim_model_needs_each_step),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
