/* SPDX-License-Identifier: MIT */
/* test_own_mutex.c - a mutex has one holder, is handed over in order, and is never lost */
#include "tests/explore/own.h"

#define FIBERS 3u

enum { LOCK, TRYLOCK, UNLOCK };

struct test {
	struct fiber_mutex lock;
	unsigned inside;
};

struct member {
	struct test *test;
	int number; /* from 1 */
};

/* -- the model: the number of the holder, or 0 -- */

static bool step(void *state, const struct fiber_test_call *call)
{
	int64_t *holder = state;

	if (call->op == UNLOCK) {
		if (*holder != call->arg)
			return false;
		*holder = 0;
		return true;
	}
	/* A fiber that gave up, also because it was cancelled, has had to wait. */
	if (call->end && call->result)
		return *holder != 0 &&
		       (call->op == TRYLOCK ? call->result == -EBUSY : own_given_up(call->result));
	if (*holder)
		return false;
	*holder = call->arg;
	return true;
}

static const struct fiber_test_model model = {
	.size = sizeof model, .state_size = sizeof(int64_t), .step = step};

static int lock(struct member *m)
{
	const bool tries = fiber_test_choose(4, "trylock") == 3;
	const int64_t deadline = tries ? 0 : own_deadline();
	const unsigned call = fiber_test_call(tries ? TRYLOCK : LOCK, 0, m->number);
	const int result = tries ? fiber_mutex_trylock(&m->test->lock)
				 : fiber_mutex_lock(&m->test->lock, deadline);

	fiber_test_return(call, result);
	if (result == -ETIMEDOUT)
		fiber_test_reached("timed out");
	if (result == -EBUSY)
		fiber_test_reached("busy");
	return result;
}

static void unlock(struct member *m)
{
	const unsigned call = fiber_test_call(UNLOCK, 0, m->number);

	fiber_mutex_unlock(&m->test->lock);
	fiber_test_return(call, 0);
}

static void *use_twice(void *arg)
{
	struct member *m = arg;

	for (unsigned i = 0; i < 2; i++) {
		if (lock(m) < 0)
			continue;
		fiber_test_assert(m->test->inside++ == 0);
		fiber_sleep(fiber_test_choose(2, "hold it") ? 2 * OWN_MS : 0);
		fiber_test_assert(--m->test->inside == 0);
		unlock(m);
	}
	return NULL;
}

/* arg: whether one is cancelled */
static void exclude(void *arg)
{
	struct test t = {.inside = 0};
	struct member members[FIBERS];
	struct fiber *fibers[FIBERS];

	fiber_test_history(&model);
	for (unsigned i = 0; i < FIBERS; i++)
		members[i] = (struct member){&t, (int)i + 1};
	own_spawn(fibers, FIBERS, use_twice, members, sizeof *members);
	if (arg)
		own_cancel_one(fibers, FIBERS);
	own_join(fibers, FIBERS);
	fiber_test_assert(fiber_mutex_trylock(&t.lock) == 0);
}

static void test_mutex_has_one_holder_at_most(void **state)
{
	static const char *const reach[] = {"timed out", "busy", NULL};

	(void)state;
	EXPLORE(exclude, NULL, .reach = reach);
}

static void test_cancelled_fibers_neither_hold_nor_lose_the_mutex(void **state)
{
	static bool yes = true;

	(void)state;
	EXPLORE_FAULTS(exclude, &yes, FIBER_TEST_FAULT_CANCEL);
}

/* -- order -- */

struct line {
	struct fiber_mutex lock;
	unsigned numbers[FIBERS + 1], n; /* who got it, in this order */
};

struct waiter {
	struct line *line;
	unsigned number;
	int64_t deadline;
};

static void *wait_in_line(void *arg)
{
	struct waiter *w = arg;
	struct line *l = w->line;

	if (fiber_mutex_lock(&l->lock, w->deadline) < 0)
		return NULL;
	l->numbers[l->n++] = w->number;
	fiber_test_point("held");
	fiber_mutex_unlock(&l->lock);
	return NULL;
}

/* Three arrive one after the other while the lock is held; a fourth when it becomes free. */
static void hand_over(void *arg)
{
	struct line l = {.n = 0};
	struct waiter waiters[FIBERS + 1];
	struct fiber *fibers[FIBERS + 1];

	(void)arg;
	fiber_mutex_lock(&l.lock, FIBER_FOREVER);
	for (unsigned i = 0; i <= FIBERS; i++) {
		waiters[i] = (struct waiter){&l, i, own_deadline()};
		own_spawn(&fibers[i], 1, wait_in_line, &waiters[i], sizeof *waiters);
		if (i < FIBERS)
			fiber_test_settle();
	}
	own_cancel_one(fibers, FIBERS);
	fiber_mutex_unlock(&l.lock);
	own_join(fibers, FIBERS + 1);
	for (unsigned i = 1; i < l.n; i++)
		fiber_test_assert(l.numbers[i - 1] < l.numbers[i]);
	if (l.n == FIBERS + 1)
		fiber_test_reached("all");
	fiber_test_assert(fiber_mutex_trylock(&l.lock) == 0);
}

static void test_mutex_is_handed_over_in_the_order_of_arrival(void **state)
{
	static const char *const reach[] = {"all", NULL};

	(void)state;
	EXPLORE(hand_over, NULL, .reach = reach);
	EXPLORE_FAULTS(hand_over, NULL, FIBER_TEST_FAULT_CANCEL);
}

/* -- every schedule -- */

static void *add(void *arg)
{
	struct test *t = arg;

	if (fiber_mutex_lock(&t->lock, FIBER_FOREVER) < 0)
		return NULL;
	fiber_test_assert(t->inside++ == 0);
	fiber_yield();
	t->inside--;
	fiber_mutex_unlock(&t->lock);
	return NULL;
}

static void two_of_them(void *arg)
{
	struct test t = {.inside = 0};
	struct fiber *fibers[2];

	(void)arg;
	own_spawn(fibers, 2, add, &t, 0);
	own_join(fibers, 2);
	fiber_test_assert(fiber_mutex_trylock(&t.lock) == 0);
}

static void test_mutex_excludes_in_every_schedule_of_two_fibers(void **state)
{
	(void)state;
	EXPLORE_ALL(two_of_them, NULL, .preemptions = 3);
	EXPLORE_ALL(two_of_them, NULL, .preemptions = 2, .faults = FIBER_TEST_FAULT_CANCEL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutex_has_one_holder_at_most),
		cmocka_unit_test(test_cancelled_fibers_neither_hold_nor_lose_the_mutex),
		cmocka_unit_test(test_mutex_is_handed_over_in_the_order_of_arrival),
		cmocka_unit_test(test_mutex_excludes_in_every_schedule_of_two_fibers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
