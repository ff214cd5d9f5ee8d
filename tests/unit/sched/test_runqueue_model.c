/* SPDX-License-Identifier: MIT */
/*
 * test_runqueue_model.c - every interleaving of the run queue's steps, in small
 *
 * One owner and two thieves run short programs over rings of 2 and 4 slots: P puts the next item, D
 * takes until the queue is empty, a digit steals from that actor's queue. A step is one access of
 * runqueue.c to something that others write. In every interleaving each item is taken exactly once.
 *
 * A model that finds nothing may be blind, so each rule of the ring is broken once, and the model
 * must find it. Counters are bytes here and start just below their overflow, which must not matter.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "explore.h"
#include "tests/harness/watchdog.h"

#define SLOTS  4u
#define ITEMS  6u
#define ACTORS 3u

enum at {
	NEXT, /* the first access of the program's next letter */
	PUT_WHERE,
	PUT_OVERFLOW,
	PUT_SLOT,
	PUT_TAIL,
	TAKE_SLOT,
	TAKE_SWAP,
	LIST_TAKE,
	LIST_SLOT,
	LIST_TAIL,
	STEAL_HEAD,
	STEAL_TAIL,
	STEAL_COPY,
	STEAL_STORE,
	STEAL_SWAP,
	STEAL_PUBLISH,
	STEAL_LIST,
};

enum broken {
	NOTHING,
	TAKE_STORES_HEAD,      /* the owner takes without a compare-and-swap */
	STEAL_STORES_HEAD,     /* a thief takes without a compare-and-swap */
	PUT_IGNORES_BOUND,     /* the owner writes into a full ring */
	PUT_TAIL_FIRST,	       /* the new tail is visible before the slot is written: no release */
	STEAL_PUBLISHES_FIRST, /* the thief's tail is visible before its swap has succeeded */
	STEAL_COPIES_LAST,     /* the swap comes before the copy */
};

struct queue {
	uint8_t head, tail, slots[SLOTS], list[ITEMS], listed;
};

struct actor {
	uint8_t at, letter, head, n, i, first, held, chain[SLOTS / 2];
};

struct model {
	struct queue queue[ACTORS];
	struct actor actor[ACTORS];
	uint8_t put, taken[ITEMS + 1];
};

static const char *programs[ACTORS];
static unsigned slots;
static enum broken broken;

static void next_letter(struct actor *a)
{
	const uint8_t letter = a->letter;

	memset(a, 0, sizeof *a);
	a->letter = (uint8_t)(letter + 1);
}

/* The current call returns an item: D calls again. */
static void got(struct model *m, struct actor *a, char letter)
{
	const uint8_t at = a->letter;

	m->taken[a->first]++;
	memset(a, 0, sizeof *a);
	a->letter = letter == 'D' ? at : (uint8_t)(at + 1);
}

static void begin(struct model *m, struct actor *a, struct queue *own, char letter)
{
	a->head = letter == 'P' || letter == 'D' ? own->head : m->queue[letter - '0'].head;
	a->at = letter == 'P' ? PUT_WHERE : letter == 'D' ? TAKE_SLOT : STEAL_TAIL;
}

static void step_put(struct model *m, struct actor *a, struct queue *q)
{
	switch (a->at) {
	case PUT_WHERE:
		if ((q->listed || (uint8_t)(q->tail - a->head) == slots) &&
		    broken != PUT_IGNORES_BOUND)
			a->at = PUT_OVERFLOW;
		else
			a->at = broken == PUT_TAIL_FIRST ? PUT_TAIL : PUT_SLOT;
		return;
	case PUT_OVERFLOW:
		q->list[q->listed++] = ++m->put;
		next_letter(a);
		return;
	case PUT_SLOT:
		q->slots[(uint8_t)(q->tail - (broken == PUT_TAIL_FIRST)) % slots] = ++m->put;
		a->at = PUT_TAIL;
		if (broken == PUT_TAIL_FIRST)
			next_letter(a);
		return;
	default:
		q->tail++;
		a->at = PUT_SLOT;
		if (broken != PUT_TAIL_FIRST)
			next_letter(a);
	}
}

static void step_take(struct model *m, struct actor *a, struct queue *q)
{
	if (a->at == TAKE_SLOT) {
		if (a->head != q->tail) {
			a->first = q->slots[a->head % slots];
			a->at = TAKE_SWAP;
		} else if (q->listed) {
			a->at = LIST_TAKE;
		} else {
			next_letter(a);
		}
	} else if (q->head == a->head || broken == TAKE_STORES_HEAD) {
		q->head = (uint8_t)(a->head + 1);
		got(m, a, 'D');
	} else {
		a->head = q->head;
		a->at = TAKE_SLOT;
	}
}

/* Move half a ring from the list of `from` into the empty ring q. */
static void step_list(struct model *m, struct actor *a, struct queue *from, struct queue *q,
		      char letter)
{
	unsigned half = slots / 2;

	switch (a->at) {
	case LIST_TAKE:
		if (!from->listed) {
			next_letter(a);
			return;
		}
		a->n = (uint8_t)(from->listed < half ? from->listed : half);
		a->first = from->list[0];
		memcpy(a->chain, from->list, a->n);
		memmove(from->list, from->list + a->n, ITEMS - a->n);
		memset(from->list + ITEMS - a->n, 0, a->n);
		from->listed = (uint8_t)(from->listed - a->n);
		a->i = 1;
		break;
	case LIST_SLOT:
		q->slots[q->tail % slots] = a->chain[a->i];
		a->at = LIST_TAIL;
		return;
	default:
		q->tail++;
		a->i++;
	}
	a->at = LIST_SLOT;
	if (a->i == a->n)
		got(m, a, letter);
}

/* Continue after the copy of item i: with the next item, or the step after the last. */
static void copied(struct model *m, struct actor *a, char letter)
{
	if (++a->i < a->n)
		a->at = STEAL_COPY;
	else if (broken == STEAL_COPIES_LAST || broken == STEAL_PUBLISHES_FIRST)
		a->at = STEAL_PUBLISH;
	else
		a->at = STEAL_SWAP;
	if (a->at == STEAL_PUBLISH && a->n == 1) {
		a->at = STEAL_SWAP;
		if (broken == STEAL_COPIES_LAST)
			got(m, a, letter);
	}
}

static void swapped(struct model *m, struct actor *a, char letter)
{
	if (broken == STEAL_COPIES_LAST)
		a->at = STEAL_COPY;
	else if (broken == STEAL_PUBLISHES_FIRST || a->n == 1)
		got(m, a, letter);
	else
		a->at = STEAL_PUBLISH;
}

static void step_steal(struct model *m, struct actor *a, struct queue *victim, struct queue *q,
		       char letter)
{
	switch (a->at) {
	case STEAL_HEAD:
		a->head = victim->head;
		a->at = STEAL_TAIL;
		return;
	case STEAL_TAIL:
		a->n = (uint8_t)(victim->tail - a->head);
		a->n = (uint8_t)(a->n - a->n / 2);
		a->i = 0;
		a->at = a->n > slots / 2	      ? STEAL_HEAD
			: !a->n			      ? STEAL_LIST
			: broken == STEAL_COPIES_LAST ? STEAL_SWAP
						      : STEAL_COPY;
		return;
	case STEAL_COPY:
		a->held = victim->slots[(uint8_t)(a->head + a->i) % slots];
		a->at = STEAL_STORE;
		if (a->i)
			return;
		a->first = a->held;
		copied(m, a, letter);
		return;
	case STEAL_STORE:
		q->slots[(uint8_t)(q->tail + a->i - 1) % slots] = a->held;
		copied(m, a, letter);
		return;
	case STEAL_SWAP:
		if (victim->head == a->head || broken == STEAL_STORES_HEAD) {
			victim->head = (uint8_t)(a->head + a->n);
			swapped(m, a, letter);
		} else {
			a->head = victim->head;
			a->at = STEAL_TAIL;
		}
		return;
	case STEAL_PUBLISH:
		q->tail = (uint8_t)(q->tail + a->n - 1);
		if (broken == STEAL_PUBLISHES_FIRST)
			a->at = STEAL_SWAP;
		else
			got(m, a, letter);
		return;
	default: /* STEAL_LIST */
		a->at = LIST_TAKE;
		if (!victim->listed)
			next_letter(a);
	}
}

static bool step(void *state, unsigned actor)
{
	struct model *m = state;
	struct actor *a = &m->actor[actor];
	const char letter = programs[actor][a->letter];
	struct queue *q = &m->queue[actor];
	struct queue *from = letter >= '0' && letter <= '2' ? &m->queue[letter - '0'] : q;

	if (!letter)
		return false;
	if (a->at == NEXT)
		begin(m, a, q, letter);
	else if (a->at <= PUT_TAIL)
		step_put(m, a, q);
	else if (a->at <= TAKE_SWAP)
		step_take(m, a, q);
	else if (a->at <= LIST_TAIL)
		step_list(m, a, from, q, letter);
	else
		step_steal(m, a, from, q, letter);
	return true;
}

static const char *wrong(const void *state, bool final)
{
	const struct model *m = state;
	unsigned i;

	if (m->taken[0])
		return "something was taken that was never put";
	for (i = 1; i <= m->put; i++) {
		if (m->taken[i] > 1)
			return "an item was taken twice";
		if (final && !m->taken[i])
			return "an item was lost";
	}
	return NULL;
}

static void run(enum broken rule, unsigned ring, const char *owner, const char *one,
		const char *two, struct explore *e)
{
	struct model first = {0};
	unsigned i;

	*e = (struct explore){sizeof first, two ? 3 : 2, step, wrong, 0, 0, NULL, ""};
	broken = rule;
	slots = ring;
	programs[0] = owner;
	programs[1] = one;
	programs[2] = two ? two : "";
	for (i = 0; i < ACTORS; i++)
		first.queue[i].head = first.queue[i].tail = 254;
	explore(e, &first);
}

static void holds(unsigned ring, const char *owner, const char *one, const char *two)
{
	struct explore e;

	run(NOTHING, ring, owner, one, two, &e);
	if (e.found)
		print_message("# %s / %s / %s: %s\n", owner, one, two ? two : "-", e.way);
	assert_null(e.found);
	/* The exploration was not trivial: many states, and some of them final. */
	assert_true(e.states > 500);
	assert_true(e.finals > 0);
}

static void test_ring_model_loses_and_doubles_nothing_with_two_thieves(void **state)
{
	(void)state;
	holds(4, "PPPD", "0D0D", "0D1D");
	holds(4, "PPPPD", "0D", "0D");
	holds(2, "PPD", "0D0D", "0D1D");
}

static void test_ring_model_holds_while_the_ring_wraps(void **state)
{
	(void)state;
	holds(2, "PPDPPD", "0D0D", NULL);
	holds(4, "PPPPDPPD", "0D0D", NULL);
	holds(2, "PDPDPD", "0D", "0D");
}

static void test_ring_model_holds_when_the_ring_overflows(void **state)
{
	(void)state;
	holds(2, "PPPPD", "0D0D", NULL);
	holds(2, "PPPDPD", "0D", "0D");
	holds(4, "PPPPPPD", "0D0D", NULL);
}

static void found_out(enum broken rule, unsigned ring, const char *owner, const char *one,
		      const char *two)
{
	struct explore e;

	run(rule, ring, owner, one, two, &e);
	assert_non_null(e.found);
	assert_true(e.way[0]);
}

static void test_ring_model_finds_a_take_without_compare_and_swap(void **state)
{
	(void)state;
	found_out(TAKE_STORES_HEAD, 2, "PPD", "0D", NULL);
	found_out(STEAL_STORES_HEAD, 2, "PPD", "0D", NULL);
	found_out(STEAL_STORES_HEAD, 4, "PPP", "0D", "0D");
}

static void test_ring_model_finds_steps_in_the_wrong_order(void **state)
{
	(void)state;
	found_out(PUT_TAIL_FIRST, 2, "PD", "0D", NULL);
	found_out(STEAL_PUBLISHES_FIRST, 4, "PPPD", "0D", "0D");
	found_out(STEAL_COPIES_LAST, 2, "PPPD", "0D", NULL);
}

static void test_ring_model_finds_a_put_beyond_the_bound(void **state)
{
	(void)state;
	found_out(PUT_IGNORES_BOUND, 2, "PPPD", "", NULL);
	found_out(PUT_IGNORES_BOUND, 2, "PPPD", "0D", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring_model_loses_and_doubles_nothing_with_two_thieves),
		cmocka_unit_test(test_ring_model_holds_while_the_ring_wraps),
		cmocka_unit_test(test_ring_model_holds_when_the_ring_overflows),
		cmocka_unit_test(test_ring_model_finds_a_take_without_compare_and_swap),
		cmocka_unit_test(test_ring_model_finds_steps_in_the_wrong_order),
		cmocka_unit_test(test_ring_model_finds_a_put_beyond_the_bound),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
