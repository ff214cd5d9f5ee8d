/* SPDX-License-Identifier: MIT */
/* test_own_cond.c - a condition loses no signal, and each waiter holds the mutex afterwards */
#include "tests/explore/own.h"

#define FIBERS 2u

struct test {
	struct fiber_mutex lock;
	struct fiber_cond changed;
	unsigned items, taken;
	unsigned inside; /* fibers that hold the lock */
	unsigned ended;	 /* fibers that do not wait any more */
};

static void enter(struct test *t)
{
	fiber_test_assert(t->inside++ == 0);
}

static void leave(struct test *t)
{
	fiber_test_assert(--t->inside == 0);
	fiber_mutex_unlock(&t->lock);
}

static int wait_for_change(struct test *t, int64_t deadline)
{
	int rc;

	fiber_test_assert(--t->inside == 0);
	rc = fiber_cond_wait(&t->changed, &t->lock, deadline);
	enter(t);
	fiber_test_assert(rc == 0 || own_given_up(rc));
	/* Held, also after an error. */
	fiber_test_assert(fiber_mutex_trylock(&t->lock) == -EBUSY);
	return rc;
}

/* Take one item, or give up. */
static void *take_one(void *arg)
{
	struct test *t = arg;
	const int64_t deadline = own_deadline();
	int rc = 0;

	if (fiber_mutex_lock(&t->lock, FIBER_FOREVER) < 0) {
		t->ended++;
		return NULL;
	}
	enter(t);
	while (!t->items && rc == 0) {
		rc = wait_for_change(t, deadline);
		if (rc == 0 && !t->items)
			fiber_test_reached("for nothing");
		if (rc == -ETIMEDOUT)
			fiber_test_reached("timed out");
	}
	/* Who gave up leaves the item to whom the signal went. */
	if (rc == 0) {
		t->items--;
		t->taken++;
	}
	t->ended++;
	leave(t);
	return NULL;
}

static void put_one(struct test *t, bool signals)
{
	fiber_mutex_lock(&t->lock, FIBER_FOREVER);
	enter(t);
	t->items++;
	if (signals)
		fiber_cond_signal(&t->changed);
	else
		fiber_cond_broadcast(&t->changed);
	leave(t);
}

/* An item for each; a signal that a fiber which gave up had taken would leave the other one waiting. */
static void an_item_each(void *arg)
{
	struct test t = {.items = 0};
	struct fiber *fibers[FIBERS];

	(void)arg;
	own_spawn(fibers, FIBERS, take_one, &t, 0);
	own_cancel_one(fibers, FIBERS);
	for (unsigned i = 0; i < FIBERS; i++)
		put_one(&t, fiber_test_choose(2, "broadcast") == 0);
	own_join(fibers, FIBERS);
	fiber_test_assert(t.items + t.taken == FIBERS && t.inside == 0);
	fiber_test_assert(fiber_mutex_trylock(&t.lock) == 0);
}

static void test_no_signal_is_lost_by_a_waiter_that_gives_up(void **state)
{
	static const char *const reach[] = {"timed out", NULL}, *const spurious[] = {"for nothing",
										     NULL};

	(void)state;
	EXPLORE(an_item_each, NULL, .reach = reach);
	EXPLORE_FAULTS(an_item_each, NULL, FIBER_TEST_FAULT_CANCEL | FIBER_TEST_FAULT_SPURIOUS);
	EXPLORE(an_item_each, NULL, .faults = FIBER_TEST_FAULT_SPURIOUS, .reach = spurious);
}

/* One item and one signal for two, who may give up: it is not left while one of them waits. */
static void one_item_for_two(void *arg)
{
	struct test t = {.items = 0};
	struct fiber *fibers[FIBERS];

	(void)arg;
	own_spawn(fibers, FIBERS, take_one, &t, 0);
	put_one(&t, true);
	own_cancel_one(fibers, FIBERS);
	fiber_test_settle();
	fiber_test_assert(t.items == 0 || t.ended == FIBERS);
	put_one(&t, true);
	own_join(fibers, FIBERS);
	fiber_test_assert(t.items + t.taken == 2);
}

static void test_signal_is_for_one_waiter_when_others_give_up(void **state)
{
	(void)state;
	EXPLORE(one_item_for_two, NULL, .faults = 0);
	EXPLORE_ALL(one_item_for_two, NULL, .preemptions = 1);
	EXPLORE_FAULTS(one_item_for_two, NULL, FIBER_TEST_FAULT_CANCEL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_signal_is_lost_by_a_waiter_that_gives_up),
		cmocka_unit_test(test_signal_is_for_one_waiter_when_others_give_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
