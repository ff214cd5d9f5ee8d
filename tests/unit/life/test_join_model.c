/* SPDX-License-Identifier: MIT */
/*
 * test_join_model.c - a fiber that exits and its joiners, in every interleaving
 *
 * A fiber exits while another one joins it, with or without a deadline. A joiner that gave up joins
 * again, detaches, or leaves the join to a plain thread, whose parker lies in the record. The
 * joiner frees the record, and a second fiber starts, exits and is joined in it. The steps are
 * those of join.c (let_go, take_place), parker.h and wait.c. (join.meet, join.done)
 *
 * A joiner is woken once and finds the result; the record is freed once. From the swap that adds
 * DONE the fiber does not touch the record, except the thread's parker, which is never unmapped.
 * Two joiners at the same time are misuse, which must be detected.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/watchdog.h"
#include "tests/unit/sched/explore.h"

enum { FIRST, SECOND, FIBER, THREAD, CLOCK, ACTORS }; /* two fibers that exit, two joiners */
#define JOINER(who) ((who)-FIBER)

enum { DONE = 1, DETACHED = 2, JOINING = 4, COMING = 8 /* above: how many joiners have come */ };
enum { IDLE, ARMED, WOKEN, TIMED_OUT };

/* GIVE_BACK: a detached fiber frees its record itself. PEEK: at the result, without an acquire. */
enum { NOT_YET, RESULT, READ_LIFE, READ_JOINER, READ_ARMED, SWAP_DONE, CLAIM, READY };
enum { GIVE_BACK = 8, PEEK, LOOK, ARM, LOAD, WRITE_JOINER, WRITE_ARMED, SWAP_JOINING };
enum { ABORT = 16, ASLEEP, CLEAR, DETACH, TAKE, FREE, END };

enum then { JOINS_AGAIN, DETACHES, LEAVES_IT, DETACHES_AT_ONCE, BOTH_AT_ONCE };

enum broken {
	NOTHING,
	NO_COUNT,	 /* a new joiner does not count itself */
	FIELDS_LATE,	 /* JOINING is set before the fields are written */
	READ_LATE,	 /* the joiner to wake is read after the swap */
	NO_COMPARISON,	 /* DONE is added without comparing */
	NO_TICKET,	 /* a waker claims any armed wait */
	RESULT_EARLY,	 /* the load of `life` is no acquire: the result may be read before it */
	BLIND_PLACE,	 /* a new joiner does not look whether the fiber has ended */
	KEEPS_PLACE,	 /* a joiner that gives up does not leave its place */
	SECOND_UNSEEN,	 /* a new joiner does not look whether the place is taken */
	LAST_TOUCH_LATE, /* the fiber reads its record after the swap */
};

enum fault { NO_FAULT, TOUCHED, NO_RESULT };

struct model {
	/* number: 0, 1: the fiber in the record */
	uint8_t life, joiner, armed, result, number, held, fault, died;
	uint8_t at[ACTORS], saw[ACTORS], whom[2], which[2], peeked[2];
	uint8_t ticket[2], outcome[2], runs[2], deadlines;
};

static enum broken broken;
static enum then then;

static void touch(struct model *m, bool is_ours)
{
	if (!m->held || !is_ours)
		m->fault = TOUCHED;
}

static void swap_done(struct model *m, unsigned who)
{
	uint8_t *at = &m->at[who];

	if (m->life != m->saw[who] && broken != NO_COMPARISON) {
		m->saw[who] = m->life;
		*at = m->life & DETACHED ? GIVE_BACK : READ_JOINER;
		return;
	}
	m->life |= DONE;
	*at = broken == LAST_TOUCH_LATE ? RESULT : END;
	if (m->saw[who] & JOINING)
		*at = broken == READ_LATE ? READ_JOINER : CLAIM;
}

static void claim(struct model *m, unsigned who)
{
	unsigned j = m->whom[who] ? m->whom[who] - 1u : 0;

	m->at[who] = END;
	if (!m->whom[who] || m->outcome[j] != ARMED ||
	    (m->ticket[j] != m->which[who] && broken != NO_TICKET))
		return;
	m->outcome[j] = WOKEN;
	if (j == JOINER(FIBER))
		m->at[who] = READY;
}

/* A second joiner must be detected only while the fiber lives. */
static bool may_begin(const struct model *m, unsigned who)
{
	return m->number == who &&
	       (then != BOTH_AT_ONCE || (m->at[FIBER] == ASLEEP && m->at[THREAD] == ASLEEP));
}

static bool step_end(struct model *m, unsigned who)
{
	uint8_t *at = &m->at[who];
	const bool after = m->life & DONE;

	if (*at == END || (*at == NOT_YET && !may_begin(m, who)))
		return false;
	if (*at != NOT_YET && *at != CLAIM && *at != READY)
		touch(m, m->number == who);
	switch (*at) {
	case NOT_YET:
		*at = RESULT;
		break;
	case RESULT:
		m->result = 1;
		*at = after ? END : READ_LIFE;
		break;
	case READ_LIFE:
		m->saw[who] = m->life;
		*at = m->life & DETACHED    ? GIVE_BACK
		      : broken == READ_LATE ? SWAP_DONE
					    : READ_JOINER;
		break;
	case READ_JOINER:
		m->whom[who] = m->joiner;
		*at = READ_ARMED;
		break;
	case READ_ARMED:
		m->which[who] = m->armed;
		*at = broken == READ_LATE ? CLAIM : SWAP_DONE;
		break;
	case SWAP_DONE:
		swap_done(m, who);
		break;
	case CLAIM:
		claim(m, who);
		break;
	case READY:
		m->runs[JOINER(FIBER)]++;
		*at = END;
		break;
	default:
		m->held = 0;
		*at = END;
	}
	return true;
}

static void give_up(struct model *m, unsigned who)
{
	if (broken != KEEPS_PLACE)
		m->life &= (uint8_t)~JOINING;
	m->at[who] = then == DETACHES ? DETACH : then == LEAVES_IT ? END : PEEK;
	if (then == LEAVES_IT)
		m->at[THREAD] = PEEK;
}

static void swap_joining(struct model *m, unsigned who)
{
	const uint8_t saw = m->saw[who];

	if ((saw & (JOINING | DETACHED)) && broken != SECOND_UNSEEN) {
		m->died = 1;
	} else if ((saw & DONE) && broken != BLIND_PLACE) {
		m->at[who] = ABORT;
	} else if (m->life != saw) {
		m->saw[who] = m->life;
	} else {
		m->life = (uint8_t)((saw | JOINING) + (broken == NO_COUNT ? 0 : COMING));
		m->at[who] = broken == FIELDS_LATE ? WRITE_JOINER : ASLEEP;
	}
}

static bool sleep_on(struct model *m, unsigned who)
{
	const unsigned j = JOINER(who);

	if (who == FIBER ? !m->runs[j] : m->outcome[j] == ARMED)
		return false;
	if (who == FIBER)
		m->runs[j]--;
	m->at[who] = m->outcome[j] == WOKEN ? TAKE : CLEAR;
	m->peeked[j] = m->result; /* the claim was an acquire under every rule */
	return true;
}

static void look(struct model *m, unsigned who)
{
	if (m->life & (JOINING | DETACHED))
		m->died = 1;
	m->at[who] = m->life & DONE ? TAKE : ARM;
}

static void take(struct model *m, unsigned who)
{
	bool there = broken == RESULT_EARLY ? m->peeked[JOINER(who)] : m->result;

	if (!there)
		m->fault = NO_RESULT;
	m->at[who] = FREE;
}

/* Free the record, and make the second fiber in it if this was the first of two. */
static void free_record(struct model *m, unsigned who)
{
	m->held = 0;
	m->at[who] = END;
	if (then != JOINS_AGAIN || m->number)
		return;
	m->number = m->held = 1;
	m->life = m->result = 0;
	m->at[who] = PEEK;
}

static bool step_join(struct model *m, unsigned who)
{
	const unsigned j = JOINER(who);
	uint8_t *at = &m->at[who];

	if (*at == END || *at == NOT_YET)
		return false;
	if (*at == ASLEEP)
		return sleep_on(m, who);
	if (*at != ARM && *at != ABORT)
		touch(m, true);
	switch (*at) {
	case PEEK:
		m->peeked[j] = m->result;
		*at = LOOK;
		break;
	case LOOK:
		look(m, who);
		break;
	case ARM:
		m->ticket[j]++;
		m->outcome[j] = ARMED;
		*at = LOAD;
		break;
	case LOAD:
		m->saw[who] = m->life;
		*at = broken == FIELDS_LATE ? SWAP_JOINING : WRITE_JOINER;
		break;
	case WRITE_JOINER:
		m->joiner = (uint8_t)(j + 1);
		*at = WRITE_ARMED;
		break;
	case WRITE_ARMED:
		m->armed = m->ticket[j];
		*at = broken == FIELDS_LATE ? ASLEEP : SWAP_JOINING;
		break;
	case SWAP_JOINING:
		swap_joining(m, who);
		break;
	case ABORT:
		*at = m->outcome[j] == ARMED ? TAKE : ASLEEP;
		if (m->outcome[j] == ARMED)
			m->outcome[j] = IDLE;
		break;
	case CLEAR:
		give_up(m, who);
		break;
	case DETACH:
		m->died |= (m->life & (JOINING | DETACHED)) != 0;
		*at = m->life & DONE ? FREE : END;
		m->life |= DETACHED;
		break;
	case TAKE:
		take(m, who);
		break;
	default:
		free_record(m, who);
	}
	return true;
}

/* The deadline of the joining fiber expires. */
static bool step_clock(struct model *m)
{
	if (!m->deadlines || m->at[FIBER] != ASLEEP || m->outcome[JOINER(FIBER)] != ARMED)
		return false;
	m->deadlines--;
	m->outcome[JOINER(FIBER)] = TIMED_OUT;
	m->runs[JOINER(FIBER)]++;
	return true;
}

static bool step(void *state, unsigned who)
{
	struct model *m = state;

	if (m->died || m->fault)
		return false;
	if (who == CLOCK)
		return step_clock(m);
	return who < FIBER ? step_end(m, who) : step_join(m, who);
}

static const char *wrong(const void *state, bool final)
{
	const struct model *m = state;

	if (m->fault)
		return m->fault == TOUCHED ? "a record is touched that is somebody else's"
					   : "the result is not there";
	if (m->died)
		return then == BOTH_AT_ONCE ? NULL : "a joiner is taken for a second one";
	if (m->runs[0] > 1)
		return "a joiner is in two run queues";
	if (!final)
		return NULL;
	if (m->at[FIBER] != END || (m->at[THREAD] != END && m->at[THREAD] != NOT_YET))
		return "a joiner sleeps for ever";
	if (m->runs[0])
		return "a joiner is woken twice";
	return m->held ? "a record is never given back" : NULL;
}

static void run(enum broken rule, enum then what, unsigned deadlines, struct explore *e)
{
	struct model first = {.held = 1, .deadlines = (uint8_t)deadlines};

	*e = (struct explore){sizeof first, ACTORS, step, wrong, 0, 0, NULL, ""};
	broken = rule;
	then = what;
	first.at[FIBER] = what == DETACHES_AT_ONCE ? DETACH : PEEK;
	first.at[THREAD] = what == BOTH_AT_ONCE ? PEEK : NOT_YET;
	explore(e, &first);
}

static void test_join_model_wakes_each_joiner_once_and_gives_each_record_back_once(void **state)
{
	struct explore e;
	unsigned what, deadlines;

	(void)state;
	for (what = JOINS_AGAIN; what <= BOTH_AT_ONCE; what++) {
		for (deadlines = 0; deadlines <= 3; deadlines++) {
			run(NOTHING, (enum then)what, deadlines, &e);
			if (e.found)
				print_message("# %u, %u: %s: %s\n", what, deadlines, e.found,
					      e.way);
			assert_null(e.found);
			assert_true(e.states > 7 && e.finals > 0);
		}
	}
}

static void test_join_model_finds_what_each_rule_is_for(void **state)
{
	static const char sleeps[] = "a joiner sleeps for ever";
	static const char touched[] = "a record is touched that is somebody else's";
	static const char missing[] = "the result is not there";
	static const char second[] = "a joiner is taken for a second one";
	static const struct {
		enum broken rule;
		enum then then;
		const char *expected;
	} cases[] = {
		{NO_COUNT, LEAVES_IT, sleeps},
		{NO_COUNT, JOINS_AGAIN, sleeps},
		{FIELDS_LATE, JOINS_AGAIN, sleeps},
		{READ_LATE, JOINS_AGAIN, touched},
		{LAST_TOUCH_LATE, JOINS_AGAIN, touched},
		{NO_COMPARISON, JOINS_AGAIN, sleeps},
		{NO_COMPARISON, DETACHES_AT_ONCE, "a record is never given back"},
		{NO_TICKET, JOINS_AGAIN, missing},
		{RESULT_EARLY, JOINS_AGAIN, missing},
		{BLIND_PLACE, JOINS_AGAIN, sleeps},
		{KEEPS_PLACE, JOINS_AGAIN, second},
		{KEEPS_PLACE, LEAVES_IT, second},
		{SECOND_UNSEEN, BOTH_AT_ONCE, sleeps},
	};
	struct explore e;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		run(cases[i].rule, cases[i].then, 1, &e);
		if (!e.found)
			print_message("# case %zu\n", i);
		assert_non_null(e.found);
		assert_string_equal(e.found, cases[i].expected);
		assert_true(e.way[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_join_model_wakes_each_joiner_once_and_gives_each_record_back_once),
		cmocka_unit_test(test_join_model_finds_what_each_rule_is_for),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
