/* SPDX-License-Identifier: MIT */
/*
 * test_labels_model.c - labels that are read while they change, in every interleaving
 *
 * A fiber sets its label three times and exits, and another fiber takes the block. A reader copies
 * as layout/labels.c does. The steps are those of core/labels.c; stores leave the writer's buffer
 * in any order that the fences allow.
 *
 * A copy that the reader accepts was a text of that fiber at some moment. And at every moment the
 * current text is whole in memory, as a core file would show it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/watchdog.h"
#include "tests/unit/sched/explore.h"
#include "tests/unit/sched/memory.h"

enum { WRITER, READER, ACTORS };
enum { OWNER, GENERATION, TEXT }; /* places; each of the two texts is two words */

/* The writer's program, one letter a step:
 *	a, b  both words of the text that is not current
 *	p     the next generation, release     f  a release fence
 *	d     owner 0, release                 o  the next owner, release
 *	n     the place of text 0 links to the next free block
 */
#define SET  "abpf"
#define DROP "dpfn"
#define OWN  "abpfo"
#define LIFE SET SET SET DROP OWN SET

enum at { READ_OWNER, READ_GENERATION, COPY_ONE, COPY_OTHER, OWNER_AGAIN, GENERATION_AGAIN, END };

enum broken {
	NOTHING,
	NOT_AGAIN, /* the reader does not look again */
};

struct model {
	struct memory memory;
	uint8_t letter, at; /* of the writer; of the reader */
	uint8_t generation, value, next_owner;
	uint8_t owner, seen, one, other; /* the reader's copy */
	uint8_t first_of[4];		 /* of each owner: its first value */
	uint8_t torn, taken;
};

static enum broken broken;
static const char *life;

static unsigned text(unsigned generation, unsigned word)
{
	return TEXT + (generation & 1) * 2 + word;
}

static bool step_writer(struct model *m)
{
	struct memory *memory = &m->memory;
	bool done = true;

	switch (life[m->letter]) {
	case 'a':
		done = memory_store(memory, WRITER, text(m->generation + 1u, 0),
				    (uint8_t)(m->value + 1));
		m->value = (uint8_t)(m->value + done);
		break;
	case 'b':
		done = memory_store(memory, WRITER, text(m->generation + 1u, 1), m->value);
		break;
	case 'p':
	case 'q': /* relaxed */
		done = memory_put(memory, WRITER, GENERATION, (uint8_t)(m->generation + 1),
				  life[m->letter] == 'p');
		m->generation = (uint8_t)(m->generation + done);
		break;
	case 'f':
		memory_fence_release(memory, WRITER);
		break;
	case 'n':
		done = memory_store(memory, WRITER, text(0, 0), 0x7f);
		break;
	case 'd':
		done = memory_store_release(memory, WRITER, OWNER, 0);
		break;
	case 'o':
		done = memory_store_release(memory, WRITER, OWNER, m->next_owner);
		if (done)
			m->first_of[m->next_owner++] = m->value;
		break;
	default:
		return false;
	}
	m->letter = (uint8_t)(m->letter + done);
	return done;
}

static uint8_t look(const struct model *m, unsigned place)
{
	return memory_load(&m->memory, READER, place);
}

static void take(struct model *m)
{
	m->taken = 1;
	m->torn = m->one != m->other || m->one < m->first_of[m->owner] ||
		  (m->owner + 1 < m->next_owner && m->one >= m->first_of[m->owner + 1]);
}

static bool step_reader(struct model *m)
{
	switch (m->at) {
	case READ_OWNER:
		m->owner = look(m, OWNER);
		if (!m->owner)
			m->at = END - 1;
		break;
	case READ_GENERATION:
		m->seen = look(m, GENERATION);
		break;
	case COPY_ONE:
		m->one = look(m, text(m->seen, 0));
		break;
	case COPY_OTHER:
		m->other = look(m, text(m->seen, 1));
		break;
	case OWNER_AGAIN:
		if (look(m, OWNER) != m->owner && broken != NOT_AGAIN)
			m->at = END - 1;
		break;
	case GENERATION_AGAIN:
		if (look(m, GENERATION) == m->seen || broken == NOT_AGAIN)
			take(m);
		break;
	default:
		return false;
	}
	m->at++;
	return true;
}

static bool step(void *state, unsigned actor)
{
	struct model *m = state;

	if (actor >= ACTORS)
		return memory_flush(&m->memory, actor - ACTORS);
	return actor == WRITER ? step_writer(m) : step_reader(m);
}

static bool taken; /* in some interleaving a text was accepted as whole */

static const char *wrong(const void *state, bool final)
{
	const struct model *m = state;
	const uint8_t *at = m->memory.at;
	const uint8_t counts = at[GENERATION];

	(void) final;
	taken = taken || m->taken;
	if (m->torn)
		return "a torn text was taken for whole";
	return at[OWNER] && at[text(counts, 0)] != at[text(counts, 1)]
		       ? "a core of this moment has a torn text"
		       : NULL;
}

static void run(enum broken rule, const char *letters, struct explore *e)
{
	struct model first = {.next_owner = 2, .value = 1};

	*e = (struct explore){
		sizeof first, ACTORS + MEMORY_FLUSHERS(ACTORS), step, wrong, 0, 0, NULL, ""};
	broken = rule;
	life = letters;
	taken = false;
	first.memory.at[OWNER] = 1;
	first.first_of[1] = 1;
	first.memory.at[TEXT] = first.memory.at[TEXT + 1] = 1;
	explore(e, &first);
}

static void test_labels_model_never_gives_a_torn_text(void **state)
{
	struct explore e;

	(void)state;
	for (memory_model = MEMORY_TSO; memory_model <= MEMORY_WEAK; memory_model++) {
		run(NOTHING, LIFE, &e);
		if (e.found)
			print_message("# %s: %s\n", e.found, e.way);
		assert_null(e.found);
		assert_true(taken && e.states > 500 && e.finals > 0);
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

static void test_labels_model_of_a_reader_that_looks_once_tears(void **state)
{
	(void)state;
	tears(NOT_AGAIN, MEMORY_TSO, LIFE);
}

static void test_labels_model_without_release_or_fence_tears(void **state)
{
	(void)state;
	tears(NOTHING, MEMORY_WEAK, "abqf" SET);
	tears(NOTHING, MEMORY_WEAK, "abp" SET);
}

static void test_labels_model_that_changes_what_counts_tears(void **state)
{
	(void)state;
	tears(NOTHING, MEMORY_TSO, "apb");
	/* The free list is linked through the place of the last owner's text. */
	tears(NOTHING, MEMORY_WEAK, SET SET "dn" OWN SET);
	tears(NOTHING, MEMORY_TSO, SET SET "ndpf" OWN SET);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_labels_model_never_gives_a_torn_text),
		cmocka_unit_test(test_labels_model_of_a_reader_that_looks_once_tears),
		cmocka_unit_test(test_labels_model_without_release_or_fence_tears),
		cmocka_unit_test(test_labels_model_that_changes_what_counts_tears),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
