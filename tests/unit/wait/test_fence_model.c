/* SPDX-License-Identifier: MIT */
/*
 * test_fence_model.c - two sides that write a word each and then read the other's
 *
 * Several arguments of the library have this form; one of the two sides must see the other, or a
 * fiber sleeps for ever:
 * - a waiter arms its wait and looks whether it was cancelled; the canceller sets the flag and
 *   looks whether a wait is armed (cancel.gap)
 * - a fiber parks while another unparks it (park.token; the tokens have their own model)
 * - a carrier goes to sleep, or the tick rests, while a thread has work for it (idle.gap,
 *   tick.rest, thread_wait.gap)
 * - a holder of a record announces it and reads its id; an exiting fiber clears the id and reads
 *   the announcement (hazard.gap). Exiting fibers do not fence: the holder makes them.
 * - the service thread closes its waker's descriptor while a waker writes to it (service.waker)
 *
 * Stores are buffered here. Each full fence can be left out, and the model must find what it was
 * for. One side may do without a fence when the other makes all stores seen, as membarrier(2) does:
 * so the canceller bears the cost for waiters that do not fence.
 *
 * The simplest argument is here too; most release stores rest on it. A thread that sees the word
 * sees what was written before the word (once.done, locals.destroy, spin.unlock, the magic number
 * of the registry).
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/harness/watchdog.h"
#include "tests/unit/sched/explore.h"
#include "tests/unit/sched/memory.h"

/* The waiter announces itself and looks; the caller calls and looks. */
enum { WAITER, CALLER, SIDES };
enum { ARMED, FLAG }; /* places */
enum { ANNOUNCE, FENCE, LOOK, ASLEEP, END };

enum how {
	NONE,	    /* only the compiler keeps the store before the load */
	RELEASE,    /* a release fence */
	FULL,	    /* a full fence */
	MEMBARRIER, /* a full fence on this side, and then one on the other side */
	TWICE,	    /* a full fence and a look; if it sees nothing, MEMBARRIER and another look */
};

struct model {
	struct memory memory;
	uint8_t at[SIDES];
	uint8_t woken, looks;
};

static struct {
	enum how waiter, caller;
	bool caller_swaps; /* the flag is set by a read-modify-write */
} rule;

/* Execute the fence between the store and the load. False: not done yet. */
static bool fence(struct memory *m, unsigned who, enum how how)
{
	if (how == RELEASE)
		memory_fence_release(m, who);
	if (how >= FULL) {
		if (!memory_drained(m, who))
			return false;
		if (how == MEMBARRIER)
			memory_drain(m, !who);
	}
	return true;
}

static bool step_waiter(struct model *m)
{
	uint8_t *at = &m->at[WAITER];

	switch (*at) {
	case ANNOUNCE:
		memory_store_release(&m->memory, WAITER, ARMED, 1);
		*at = FENCE;
		return true;
	case FENCE:
		*at = LOOK;
		if (fence(&m->memory, WAITER, rule.waiter))
			return true;
		*at = FENCE;
		return false;
	case LOOK:
		*at = memory_load(&m->memory, WAITER, FLAG) ? END : ASLEEP;
		return true;
	case ASLEEP:
		if (!m->woken)
			return false;
		*at = END;
		return true;
	default:
		return false;
	}
}

static bool step_caller(struct model *m)
{
	uint8_t *at = &m->at[CALLER];

	switch (*at) {
	case ANNOUNCE:
		if (rule.caller_swaps)
			memory_swap(&m->memory, FLAG, 1);
		else
			memory_store_release(&m->memory, CALLER, FLAG, 1);
		*at = FENCE;
		return true;
	case FENCE:
		*at = LOOK;
		if (fence(&m->memory, CALLER,
			  m->looks && rule.caller == TWICE ? MEMBARRIER : rule.caller))
			return true;
		*at = FENCE;
		return false;
	case LOOK:
		m->woken = memory_load(&m->memory, CALLER, ARMED);
		*at = m->woken || rule.caller != TWICE || m->looks++ ? END : FENCE;
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
	return actor == WAITER ? step_waiter(m) : step_caller(m);
}

static const char *wrong(const void *state, bool final)
{
	const struct model *m = state;

	return final && m->at[WAITER] != END ? "whoever was called sleeps" : NULL;
}

static bool fails(enum how waiter, enum how caller, bool caller_swaps)
{
	const struct model first = {.looks = 0};
	struct explore e = {
		sizeof first, SIDES + MEMORY_FLUSHERS(SIDES), step, wrong, 0, 0, NULL, ""};
	bool failed = false;

	rule.waiter = waiter;
	rule.caller = caller;
	rule.caller_swaps = caller_swaps;
	for (memory_model = MEMORY_TSO; memory_model <= MEMORY_WEAK; memory_model++) {
		explore(&e, &first);
		assert_true(e.found || e.finals > 0);
		assert_true(!failed || e.found); /* a weaker memory model cannot help */
		failed = failed || e.found;
	}
	return failed;
}

static void test_fence_model_with_a_full_fence_on_both_sides_misses_nobody(void **state)
{
	(void)state;
	assert_false(fails(FULL, FULL, false));
	assert_false(fails(FULL, FULL, true));
}

static void test_fence_model_without_a_fence_on_one_side_leaves_a_sleeper(void **state)
{
	(void)state;
	assert_true(fails(NONE, FULL, false));
	assert_true(fails(NONE, FULL, true));
	assert_true(fails(FULL, NONE, false));
	assert_true(fails(NONE, NONE, true));
}

static void test_fence_model_with_a_release_fence_only_leaves_a_sleeper(void **state)
{
	(void)state;
	assert_true(fails(RELEASE, FULL, true));
	assert_true(fails(FULL, RELEASE, false));
}

/* One side has no fence, but the other side forces one on it. */
static void test_fence_model_with_a_membarrier_on_one_side_misses_nobody(void **state)
{
	(void)state;
	assert_false(fails(NONE, MEMBARRIER, false));
	assert_false(fails(NONE, MEMBARRIER, true));
	assert_false(fails(MEMBARRIER, NONE, false));
}

/*
 * How a fiber is cancelled (cancel.c): waiters do not fence. Where the kernel has no membarrier(2)
 * they do, and the second look shows nothing new.
 */
static void test_fence_model_of_a_cancellation_misses_nobody_with_waiters_that_do_not_fence(
	void **state)
{
	(void)state;
	assert_false(fails(NONE, TWICE, false));
	assert_false(fails(NONE, TWICE, true));
	assert_false(fails(FULL, FULL, true));
	assert_true(fails(NONE, FULL, true));
}

/* -- write data, then a word that announces it -- */

enum { DATA = 2, WORD = 3 }; /* places */
enum { WRITE, SAY, READ_WORD, READ_DATA };

struct news {
	struct memory memory;
	uint8_t at[SIDES], word, stale;
};

static struct {
	bool release, acquire;
} publication;

static bool step_news(void *state, unsigned actor)
{
	struct news *n = state;
	uint8_t *at;

	if (actor >= SIDES)
		return memory_flush(&n->memory, actor - SIDES);
	at = &n->at[actor];
	switch (*at) {
	case WRITE:
		memory_store(&n->memory, actor, DATA, 1);
		*at = SAY;
		return true;
	case SAY:
		memory_put(&n->memory, actor, WORD, 1, publication.release);
		*at = END;
		return true;
	case READ_WORD:
		n->word = memory_load(&n->memory, actor, publication.acquire ? WORD : DATA);
		*at = READ_DATA;
		return true;
	case READ_DATA:
		/* Without an acquire the data may have been read before the word. */
		if (publication.acquire)
			n->stale = n->word && !memory_load(&n->memory, actor, DATA);
		else
			n->stale = memory_load(&n->memory, actor, WORD) && !n->word;
		*at = END;
		return true;
	default:
		return false;
	}
}

static const char *wrong_news(const void *state, bool final)
{
	(void) final;
	return ((const struct news *)state)->stale ? "the word came before what it says" : NULL;
}

static bool news_are_wrong(bool release, bool acquire, enum memory_order_model memory)
{
	const struct news first = {.at = {WRITE, READ_WORD}};
	struct explore e = {sizeof first,
			    SIDES + MEMORY_FLUSHERS(SIDES),
			    step_news,
			    wrong_news,
			    0,
			    0,
			    NULL,
			    ""};

	publication.release = release;
	publication.acquire = acquire;
	memory_model = memory;
	explore(&e, &first);
	assert_true(e.found || e.finals > 0);
	return e.found;
}

static void test_fence_model_of_a_word_that_says_what_was_written_needs_both_ends(void **state)
{
	(void)state;
	assert_false(news_are_wrong(true, true, MEMORY_TSO));
	assert_false(news_are_wrong(true, true, MEMORY_WEAK));
	assert_true(news_are_wrong(false, true, MEMORY_WEAK));
	assert_true(news_are_wrong(true, false, MEMORY_WEAK));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fence_model_with_a_full_fence_on_both_sides_misses_nobody),
		cmocka_unit_test(test_fence_model_without_a_fence_on_one_side_leaves_a_sleeper),
		cmocka_unit_test(test_fence_model_with_a_release_fence_only_leaves_a_sleeper),
		cmocka_unit_test(test_fence_model_with_a_membarrier_on_one_side_misses_nobody),
		cmocka_unit_test(
			test_fence_model_of_a_cancellation_misses_nobody_with_waiters_that_do_not_fence),
		cmocka_unit_test(
			test_fence_model_of_a_word_that_says_what_was_written_needs_both_ends),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
