/* SPDX-License-Identifier: MIT */
/*
 * test_live_count_model.c - when no fiber is left, counted by carrier, in every interleaving
 *
 * A fiber from outside runs on the first carrier and spawns another, which either carrier runs and
 * which spawns a third (where no thread submits). So fibers are counted in on one carrier and out
 * on the other. A thread submits one more, or withdraws it; another thread waits for the end and
 * closes. A background fiber takes a carrier and keeps it until then.
 *
 * The steps are those of live_count.c (live_count.count, live_count.told), of switch.c
 * (fib_switch_out_dead) and of carrier.c. A carrier's stores are seen late (memory.h).
 *
 * The count is never found to be 0 while a fiber lives all the time, no fiber is let in after the
 * close, and the waiter for the end is notified.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/watchdog.h"
#include "tests/unit/sched/explore.h"
#include "tests/unit/sched/memory.h"

enum { CARRIERS = 2, FINISHER = CARRIERS, SUBMITTER, ACTORS };
enum { ENDED, SPAWNED = 2, RUNNABLE = 4 };	     /* places: per carrier, and per child */
enum { ROOT, CHILD, GRANDCHILD, GUEST, BACKGROUND }; /* the fiber that runs */

enum { TAKE, COUNT_IN, PUBLISH, COUNT_OUT, TELL, AWAITED, COUNT, TOLD, KEEP };
enum { CLOSE = 16, AWAIT, SEE, ASLEEP, DONE, LOOK, ENTER, SUBMIT, WITHDRAW, SAY, END };

enum broken {
	NOTHING,
	SPAWNED_FIRST,	 /* the count of spawned fibers is read before that of ended ones */
	COUNTED_LATE,	 /* counted in when others can already see the fiber */
	OUT_RELAXED,	 /* counted out without a release */
	NO_FENCE,	 /* the notifier does not fence before it looks for a waiter */
	AWAITS_LATE,	 /* announces its wait after it has read the count */
	CLOSES_BLINDLY,	 /* closes without comparing what was submitted since */
	SILENT_WITHDRAW, /* a withdrawal notifies no waiter */
	SILENT_HANDOVER, /* a background fiber takes over from an exiting one unnoticed (a bug) */
};

struct model {
	struct memory memory;
	uint8_t submitted, closed, awaited, moved, guest,
		background;   /* guest and background are runnable */
	uint8_t lives, lived; /* true count; per reader: a fiber lived since it began */
	uint8_t at[ACTORS], next[ACTORS], runs[CARRIERS], saw[ACTORS], tells[CARRIERS];
	uint8_t read[ACTORS], ended[ACTORS], spawned[ACTORS];
	uint8_t fault;
};

static enum broken broken;
static bool generations; /* the child spawns too */

static uint8_t load(const struct model *m, unsigned who, unsigned place)
{
	return who < CARRIERS ? memory_load(&m->memory, who, place) : m->memory.at[place];
}

static void begin_count(struct model *m, unsigned who, uint8_t next)
{
	m->read[who] = m->ended[who] = m->spawned[who] = 0;
	m->lived |= (uint8_t)(1 << who);
	m->at[who] = COUNT;
	m->next[who] = next;
}

/* One of the loads of fib_live_none(). */
static void count(struct model *m, unsigned who)
{
	unsigned i = m->read[who]++, place = broken == SPAWNED_FIRST ? i ^ 2 : i;

	if (i == 4) {
		m->saw[who] = m->submitted;
		m->at[who] = m->next[who];
	} else if (place < SPAWNED) {
		m->ended[who] += load(m, who, place);
	} else {
		m->spawned[who] += load(m, who, place);
	}
}

static bool none(struct model *m, unsigned who)
{
	bool is_none = m->ended[who] == (uint8_t)(m->spawned[who] + m->saw[who]);

	if (is_none && (m->lived & 1 << who))
		m->fault = 1;
	return is_none;
}

/* -- a carrier -- */

/* Take the next fiber, or else the idle context. Taking from a queue is a swap. */
static bool take(struct model *m, unsigned who)
{
	const bool drained = memory_drained(&m->memory, who);
	unsigned child;

	for (child = 0; child < 2; child++) {
		if (load(m, who, RUNNABLE + child) != 1)
			continue;
		if (!drained || !memory_cas(&m->memory, RUNNABLE + child, 1, 2))
			return false;
		m->runs[who] = (uint8_t)(CHILD + child);
		m->at[who] = child || !generations ? COUNT_OUT : COUNT_IN;
		return true;
	}
	if (m->guest) {
		m->guest -= drained;
		m->runs[who] = GUEST;
		m->at[who] = drained ? COUNT_OUT : TAKE;
		return drained;
	}
	if (m->background && who == 0 && (broken == SILENT_HANDOVER || !m->tells[who])) {
		m->background = 0;
		m->at[who] = KEEP;
		return true;
	}
	m->at[who] = m->tells[who] ? TELL : TAKE;
	return m->tells[who];
}

static bool raise_own(struct model *m, unsigned who, unsigned place, bool release)
{
	return memory_put(&m->memory, who, place + who,
			  (uint8_t)(memory_load(&m->memory, who, place + who) + 1), release);
}

static bool count_in(struct model *m, unsigned who)
{
	if (!raise_own(m, who, SPAWNED, true))
		return false;
	m->lives += broken != COUNTED_LATE;
	m->at[who] = broken == COUNTED_LATE ? COUNT_OUT : PUBLISH;
	return true;
}

static bool publish(struct model *m, unsigned who)
{
	if (!memory_store_release(&m->memory, who, RUNNABLE + m->runs[who], 1))
		return false;
	m->lives += broken == COUNTED_LATE;
	m->at[who] = broken == COUNTED_LATE ? COUNT_IN : COUNT_OUT;
	return true;
}

static bool count_out(struct model *m, unsigned who)
{
	if (!raise_own(m, who, ENDED, broken != OUT_RELAXED))
		return false;
	m->lives--;
	m->tells[who] = 1;
	m->at[who] = TAKE;
	return true;
}

static bool step_carrier(struct model *m, unsigned who)
{
	switch (m->at[who]) {
	case TAKE:
		return take(m, who);
	case COUNT_IN:
		if (broken == COUNTED_LATE && m->next[who] != 1 + m->runs[who]) {
			m->next[who] = (uint8_t)(1 + m->runs[who]);
			m->at[who] = PUBLISH;
			return true;
		}
		return count_in(m, who);
	case PUBLISH:
		return publish(m, who);
	case COUNT_OUT:
		return count_out(m, who);
	case TELL:
		if (broken != NO_FENCE && !memory_drained(&m->memory, who))
			return false;
		m->tells[who] = 0;
		m->at[who] = AWAITED;
		return true;
	case AWAITED:
		m->at[who] = TAKE;
		if (m->awaited)
			begin_count(m, who, TOLD);
		return true;
	case COUNT:
		count(m, who);
		return true;
	case TOLD:
		m->moved += none(m, who);
		m->at[who] = TAKE;
		return true;
	case KEEP:
		m->at[who] = m->closed ? TAKE : KEEP;
		return m->closed;
	default:
		return false;
	}
}

/* -- the waiter for the end -- */

static void close_all(struct model *m)
{
	bool is_none = m->ended[FINISHER] == (uint8_t)(m->spawned[FINISHER] + m->saw[FINISHER]);

	m->at[FINISHER] = broken == AWAITS_LATE ? SEE : AWAIT;
	if (!is_none || (m->submitted != m->saw[FINISHER] && broken != CLOSES_BLINDLY))
		return;
	m->fault |= m->lives != 0;
	m->closed = 1;
	m->at[FINISHER] = END;
}

static bool step_finisher(struct model *m)
{
	uint8_t *at = &m->at[FINISHER];

	switch (*at) {
	case CLOSE:
		close_all(m);
		return true;
	case AWAIT:
		m->awaited = 1;
		*at = broken == AWAITS_LATE ? ASLEEP : SEE;
		return true;
	case SEE:
		m->next[SUBMITTER] = m->moved; /* the submitter does not use it */
		begin_count(m, FINISHER, DONE);
		return true;
	case COUNT:
		count(m, FINISHER);
		return true;
	case DONE:
		*at = broken == AWAITS_LATE ? AWAIT : ASLEEP;
		if (none(m, FINISHER)) {
			m->awaited = 0;
			begin_count(m, FINISHER, CLOSE);
		}
		return true;
	case ASLEEP:
		if (m->moved == m->next[SUBMITTER])
			return false;
		*at = SEE;
		return true;
	default:
		return false;
	}
}

/* -- the submitter -- */

static bool withdraws;

static bool step_submitter(struct model *m)
{
	uint8_t *at = &m->at[SUBMITTER];

	switch (*at) {
	case LOOK:
		m->saw[SUBMITTER] = m->submitted;
		*at = m->closed ? END : ENTER;
		return true;
	case ENTER:
		*at = m->closed || m->submitted != m->saw[SUBMITTER] ? LOOK
		      : withdraws				     ? WITHDRAW
								     : SUBMIT;
		if (*at != LOOK) {
			m->submitted++;
			m->lives++;
		}
		return true;
	case SUBMIT:
		m->guest = 1;
		*at = END;
		return true;
	case WITHDRAW:
		m->submitted--;
		m->lives--;
		*at = broken == SILENT_WITHDRAW ? END : SAY;
		return true;
	case SAY:
		m->moved++;
		*at = END;
		return true;
	default:
		return false;
	}
}

static bool step(void *state, unsigned who)
{
	struct model *m = state;
	bool stepped;

	if (who >= ACTORS)
		return memory_flush(&m->memory, who - ACTORS);
	stepped = who == FINISHER    ? step_finisher(m)
		  : who == SUBMITTER ? step_submitter(m)
				     : step_carrier(m, who);
	if (!m->lives)
		m->lived = 0;
	return stepped;
}

static const char *wrong(const void *state, bool final)
{
	const struct model *m = state;

	if (m->fault)
		return "none is left, but one lives";
	if (!final)
		return NULL;
	if (m->at[FINISHER] != END)
		return "whoever waits for the end sleeps for ever";
	return m->lives ? "one was let in behind the close" : NULL;
}

static void run(enum broken rule, bool submits, bool background, struct explore *e)
{
	struct model first = {.submitted = 1, .lives = 1, .background = background};

	*e = (struct explore){
		sizeof first, ACTORS + MEMORY_FLUSHERS(CARRIERS), step, wrong, 0, 0, NULL, ""};
	broken = rule;
	generations = !submits;
	first.at[0] = COUNT_IN;
	first.at[SUBMITTER] = submits ? LOOK : END;
	begin_count(&first, FINISHER, CLOSE);
	explore(e, &first);
}

static void test_live_model_never_says_none_while_one_lives_and_tells_whoever_waits(void **state)
{
	struct explore e;
	unsigned what;

	(void)state;
	memory_model = MEMORY_WEAK; /* an error under TSO is also one under weak ordering */
	for (what = 0; what < 4; what++) {
		withdraws = what == 1;
		run(NOTHING, what && what < 3, what == 3, &e);
		if (e.found)
			print_message("# %u: %s: %s\n", what, e.found, e.way);
		assert_null(e.found);
		assert_true(e.states > 500 && e.finals > 0);
	}
}

static void test_live_model_finds_what_each_rule_is_for(void **state)
{
	static const char lives[] = "none is left, but one lives";
	static const char sleeps[] = "whoever waits for the end sleeps for ever";
	static const struct {
		enum broken rule;
		bool submits, withdraws, background;
		const char *expected;
	} cases[] = {
		{SPAWNED_FIRST, false, false, false, lives},
		{COUNTED_LATE, false, false, false, lives},
		{OUT_RELAXED, false, false, false, lives},
		{NO_FENCE, false, false, false, sleeps},
		{AWAITS_LATE, false, false, false, sleeps},
		{CLOSES_BLINDLY, true, false, false, lives},
		{SILENT_WITHDRAW, true, true, false, sleeps},
		{SILENT_HANDOVER, false, false, true, sleeps},
	};
	struct explore e;
	size_t i;

	(void)state;
	memory_model = MEMORY_WEAK;
	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		withdraws = cases[i].withdraws;
		run(cases[i].rule, cases[i].submits, cases[i].background, &e);
		if (!e.found)
			print_message("# case %zu\n", i);
		assert_non_null(e.found);
		assert_string_equal(e.found, cases[i].expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_live_model_never_says_none_while_one_lives_and_tells_whoever_waits),
		cmocka_unit_test(test_live_model_finds_what_each_rule_is_for),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
