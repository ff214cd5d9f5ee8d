/* SPDX-License-Identifier: MIT */
/*
 * test_record_model.c - a reader never takes a torn record for whole, in every interleaving
 *
 * A record is made, run, left, run again, ended, freed, and made again for another fiber. The steps
 * are those of switch.c, join.c and spawn.c; stores are buffered and leave in any order that the
 * fences allow. Two words stand for all that changes: the saved registers and the stack.
 *
 * A reader repeats the steps of sample.c. A copy that it accepts must be of one moment of the fiber
 * whose id it read. Then each rule is left out, and the model must find a torn copy.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/watchdog.h"
#include "tests/unit/sched/explore.h"
#include "tests/unit/sched/memory.h"

enum { OWNER, READER, ACTORS };
enum { ID, SEQ, ONE, OTHER }; /* places */

/* The owner's program, one letter a step:
 *	o  an odd number          e  an even number, release
 *	f  a release fence        a, b  both words change, one after the other
 *	x  id 0, release (free)   z  seq 0, release (another maker)
 *	n  the next id, release   y  seq 0, relaxed
 */
#define RUN	"ofab"
#define LEAVE	"e"
#define FREE	"x"
#define CLEAR	"zfab"
#define PUBLISH "n"

#define LIFE   RUN LEAVE
#define ENDING LIFE FREE
#define REUSE  CLEAR PUBLISH
#define ALL    LIFE ENDING REUSE LIFE
#define UNBORN FREE REUSE LIFE /* never ran: its number was 0, like that of the next fiber */

enum at { READ_ID, READ_SEQ, COPY_ONE, COPY_OTHER, SEQ_AGAIN, ID_AGAIN, END };

enum broken {
	NOTHING,
	NO_ID_AGAIN,  /* the reader compares the number only */
	NO_SEQ_AGAIN, /* the reader compares the id only */
	AGAIN_EARLY,  /* no acquire fence: the number is read again before the copy is complete */
	COPY_EARLY,   /* no acquire load: a part of the copy is taken before the number */
	ID_FIRST,     /* the number is read again after the id */
	TAKES_ODD,    /* it also accepts a running fiber */
};

struct model {
	struct memory memory;
	uint8_t at, letter; /* of the reader; of the owner */
	uint8_t id, seq, one, other;
	uint8_t next_id, value; /* of the owner */
	uint8_t first_of[4];	/* of each id: its first value */
	uint8_t torn, taken;
	uint8_t ids; /* ID_FIRST: the id as it was read */
};

static enum broken broken;
static const char *life;

static bool step_owner(struct model *m)
{
	struct memory *memory = &m->memory;
	const char letter = life[m->letter];
	bool done = true;

	switch (letter) {
	case 'o':
	case 'e':
		done = memory_put(memory, OWNER, SEQ,
				  (uint8_t)(memory_load(memory, OWNER, SEQ) + 1), letter == 'e');
		break;
	case 'f':
		memory_fence_release(memory, OWNER);
		break;
	case 'a':
		done = memory_store(memory, OWNER, ONE, (uint8_t)(m->value + 1));
		m->value = (uint8_t)(m->value + done);
		break;
	case 'b':
		done = memory_store(memory, OWNER, OTHER, m->value);
		break;
	case 'x':
		done = memory_store_release(memory, OWNER, ID, 0);
		break;
	case 'z':
	case 'y':
		done = memory_put(memory, OWNER, SEQ, 0, letter == 'z');
		break;
	case 'n':
		done = memory_store_release(memory, OWNER, ID, m->next_id);
		if (done)
			m->first_of[m->next_id++] = m->value;
		break;
	default:
		return false;
	}
	m->letter = (uint8_t)(m->letter + done);
	return done;
}

/* The reader accepts the copy. */
static void take(struct model *m)
{
	const bool right_owner = m->one >= m->first_of[m->id] &&
				 (m->id + 1 >= m->next_id || m->one < m->first_of[m->id + 1]);

	m->taken = 1;
	if (m->one != m->other || !right_owner)
		m->torn = 1;
}

static uint8_t look(const struct model *m, unsigned place)
{
	return memory_load(&m->memory, READER, place);
}

static bool step_reader(struct model *m)
{
	switch (m->at) {
	case READ_ID:
		m->id = look(m, ID);
		m->at = m->id ? READ_SEQ : END;
		if (broken == COPY_EARLY)
			m->one = look(m, ONE);
		return true;
	case READ_SEQ:
		m->seq = look(m, SEQ);
		m->at = COPY_ONE;
		return true;
	case COPY_ONE:
		if (broken != COPY_EARLY)
			m->one = look(m, ONE);
		m->at = broken == AGAIN_EARLY ? SEQ_AGAIN : COPY_OTHER;
		return true;
	case COPY_OTHER:
		m->other = look(m, OTHER);
		m->at = broken == AGAIN_EARLY ? ID_AGAIN : SEQ_AGAIN;
		return true;
	case SEQ_AGAIN:
		if (broken == ID_FIRST && !m->ids) {
			m->ids = look(m, ID);
			return true;
		}
		m->at = broken == AGAIN_EARLY ? COPY_OTHER : ID_AGAIN;
		if ((look(m, SEQ) != m->seq && broken != NO_SEQ_AGAIN) ||
		    (m->seq & 1 && broken != TAKES_ODD))
			m->at = END;
		return true;
	case ID_AGAIN:
		if ((broken == ID_FIRST ? m->ids : look(m, ID)) == m->id || broken == NO_ID_AGAIN)
			take(m);
		m->at = END;
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
	return actor == OWNER ? step_owner(m) : step_reader(m);
}

static bool taken; /* in some interleaving a copy was accepted */

static const char *wrong(const void *state, bool final)
{
	const struct model *m = state;

	(void) final;
	taken = taken || m->taken;
	return m->torn ? "a torn copy was taken for whole" : NULL;
}

static void run(enum broken rule, const char *letters, struct explore *e)
{
	struct model first = {.next_id = 2, .value = 1};

	*e = (struct explore){
		sizeof first, ACTORS + MEMORY_FLUSHERS(ACTORS), step, wrong, 0, 0, NULL, ""};
	broken = rule;
	life = letters;
	taken = false;
	/* Fiber 1 has been made. */
	first.memory.at[ID] = first.memory.at[ONE] = first.memory.at[OTHER] = 1;
	first.first_of[1] = 1;
	explore(e, &first);
}

static const char *const lives[] = {ALL, UNBORN, ENDING REUSE FREE REUSE};

static void test_record_model_never_gives_a_torn_copy_for_whole(void **state)
{
	struct explore e;
	unsigned i;

	(void)state;
	for (memory_model = MEMORY_TSO; memory_model <= MEMORY_WEAK; memory_model++) {
		for (i = 0; i < 3; i++) {
			run(NOTHING, lives[i], &e);
			if (e.found)
				print_message("# life %u: %s: %s\n", i, e.found, e.way);
			assert_null(e.found);
			assert_true(taken);
			assert_true(e.states > 100 && e.finals > 0);
		}
	}
}

static void tears(enum broken rule, enum memory_order_model memory, const char *letters)
{
	struct explore e;

	memory_model = memory;
	run(rule, letters, &e);
	assert_non_null(e.found);
	assert_true(e.way[0]);
}

static void test_record_model_of_a_careless_reader_tears(void **state)
{
	(void)state;
	tears(NO_SEQ_AGAIN, MEMORY_TSO, ALL);
	tears(NO_ID_AGAIN, MEMORY_TSO, UNBORN);
	tears(TAKES_ODD, MEMORY_TSO, ALL);
	tears(AGAIN_EARLY, MEMORY_TSO, ALL);
	tears(COPY_EARLY, MEMORY_TSO, ALL);
}

static void test_record_model_without_the_fence_behind_the_odd_number_tears(void **state)
{
	(void)state;
	/* This also happens on x86 if the compiler puts the words before the number. */
	tears(NOTHING, MEMORY_WEAK, "oab" LEAVE);
	tears(NOTHING, MEMORY_TSO, "aofb" LEAVE);
}

static void test_record_model_with_an_even_number_that_is_no_release_tears(void **state)
{
	(void)state;
	tears(NOTHING, MEMORY_WEAK, "ofabo" RUN LEAVE);
}

static void test_record_model_without_the_fence_of_a_new_owner_tears(void **state)
{
	(void)state;
	tears(NOTHING, MEMORY_WEAK, FREE "zab" PUBLISH);
	tears(NOTHING, MEMORY_WEAK, LIFE FREE "zab" PUBLISH);
}

/* This bug occurred: a fiber that never ran has number 0, as the record's next fiber has. */
static void test_record_model_with_a_first_number_seen_before_the_id_has_gone_tears(void **state)
{
	(void)state;
	tears(NOTHING, MEMORY_WEAK, ENDING "yfab" PUBLISH LIFE);
	tears(ID_FIRST, MEMORY_TSO, ENDING REUSE LIFE);
}

static void test_record_model_that_keeps_the_id_of_the_last_owner_tears(void **state)
{
	(void)state;
	/* The record was not freed before its reuse: both numbers are 0. */
	tears(NOTHING, MEMORY_TSO, CLEAR PUBLISH);
}

static void test_record_model_with_an_id_given_too_early_tears(void **state)
{
	(void)state;
	tears(NOTHING, MEMORY_TSO, FREE "zfnab");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record_model_never_gives_a_torn_copy_for_whole),
		cmocka_unit_test(test_record_model_of_a_careless_reader_tears),
		cmocka_unit_test(test_record_model_without_the_fence_behind_the_odd_number_tears),
		cmocka_unit_test(test_record_model_with_an_even_number_that_is_no_release_tears),
		cmocka_unit_test(test_record_model_without_the_fence_of_a_new_owner_tears),
		cmocka_unit_test(
			test_record_model_with_a_first_number_seen_before_the_id_has_gone_tears),
		cmocka_unit_test(test_record_model_that_keeps_the_id_of_the_last_owner_tears),
		cmocka_unit_test(test_record_model_with_an_id_given_too_early_tears),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
