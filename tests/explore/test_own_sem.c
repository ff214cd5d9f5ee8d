/* SPDX-License-Identifier: MIT */
/* test_own_sem.c - a semaphore is a counter that is never below zero, and no permit is lost or doubled */
#include "tests/explore/own.h"

#define FIBERS 3u

enum { WAIT, TRYWAIT, POST };

struct test {
	struct fiber_sem sem;
	unsigned taken, posted;
};

/* -- the model: the count -- */

static bool step(void *state, const struct fiber_test_call *call)
{
	int64_t *count = state;

	if (call->op == POST) {
		++*count;
		return true;
	}
	/* A fiber that gave up, also because it was cancelled, has had to wait. */
	if (call->end && call->result)
		return *count == 0 &&
		       (call->op == TRYWAIT ? call->result == -EAGAIN : own_given_up(call->result));
	if (*count == 0)
		return false;
	--*count;
	return true;
}

static const struct fiber_test_model model = {
	.size = sizeof model, .state_size = sizeof(int64_t), .step = step};

static void post(struct test *t)
{
	const unsigned call = fiber_test_call(POST, 0, 0);

	fiber_test_assert(fiber_sem_post(&t->sem) == 0);
	t->posted++;
	fiber_test_return(call, 0);
}

static bool take(struct test *t)
{
	const bool tries = fiber_test_choose(4, "trywait") == 3;
	const int64_t deadline = tries ? 0 : own_deadline();
	const unsigned call = fiber_test_call(tries ? TRYWAIT : WAIT, 0, 0);
	const int result = tries ? fiber_sem_trywait(&t->sem) : fiber_sem_wait(&t->sem, deadline);

	t->taken += result == 0;
	fiber_test_return(call, result);
	if (result)
		fiber_test_reached(result == -ETIMEDOUT ? "timed out" : "refused");
	return result == 0;
}

/* Every permit is given back, so that no one waits for ever. */
static void *take_and_post(void *arg)
{
	struct test *t = arg;

	for (unsigned i = 0; i < 2; i++) {
		if (!take(t))
			continue;
		fiber_sleep(fiber_test_choose(2, "hold it") ? 2 * OWN_MS : 0);
		post(t);
	}
	return NULL;
}

/* arg: whether one is cancelled */
static void count_permits(void *arg)
{
	struct test t = {.taken = 0};
	struct fiber *fibers[FIBERS];

	fiber_test_history(&model);
	own_spawn(fibers, FIBERS, take_and_post, &t, 0);
	if (arg)
		own_cancel_one(fibers, FIBERS);
	post(&t);
	own_join(fibers, FIBERS);
	fiber_test_assert(fiber_sem_value(&t.sem) == t.posted - t.taken);
	fiber_test_assert(fiber_sem_value(&t.sem) == 1);
	fiber_test_assert(fiber_sem_trywait(&t.sem) == 0);
	fiber_test_assert(fiber_sem_trywait(&t.sem) == -EAGAIN);
}

static void test_semaphore_is_a_counter(void **state)
{
	static const char *const reach[] = {"timed out", "refused", NULL};

	(void)state;
	EXPLORE(count_permits, NULL, .reach = reach);
}

static void test_cancelled_waits_take_no_permit(void **state)
{
	static bool yes = true;

	(void)state;
	EXPLORE_FAULTS(count_permits, &yes, FIBER_TEST_FAULT_CANCEL);
}

/* -- a permit for a waiter that gives up goes to the next -- */

struct waiter {
	struct fiber_sem *sem;
	int64_t deadline;
	int result;
};

static void *wait_for_one(void *arg)
{
	struct waiter *w = arg;

	w->result = fiber_sem_wait(w->sem, w->deadline);
	return NULL;
}

static void first_gives_up(void *arg)
{
	struct fiber_sem sem = {.count = 0};
	struct waiter waiters[2] = {{&sem, fiber_after(OWN_MS), 0}, {&sem, FIBER_FOREVER, 0}};
	struct fiber *fibers[2];

	(void)arg;
	own_spawn(&fibers[0], 1, wait_for_one, &waiters[0], 0);
	fiber_test_settle();
	own_spawn(&fibers[1], 1, wait_for_one, &waiters[1], 0);
	if (fiber_test_choose(2, "cancel before"))
		fiber_cancel(fibers[0]);
	fiber_sem_post(&sem);
	if (fiber_test_choose(2, "cancel after"))
		fiber_cancel(fibers[0]);
	own_join(&fibers[0], 1);
	if (waiters[0].result == 0) {
		fiber_test_reached("first");
		fiber_sem_post(&sem);
	} else {
		fiber_test_reached("second");
	}
	own_join(&fibers[1], 1);
	fiber_test_assert(waiters[1].result == 0 && fiber_sem_value(&sem) == 0);
}

static void test_permit_goes_to_one_waiter_when_others_give_up(void **state)
{
	static const char *const reach[] = {"first", "second", NULL};

	(void)state;
	EXPLORE(first_gives_up, NULL, .reach = reach);
	EXPLORE_ALL(first_gives_up, NULL, .preemptions = 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_semaphore_is_a_counter),
		cmocka_unit_test(test_cancelled_waits_take_no_permit),
		cmocka_unit_test(test_permit_goes_to_one_waiter_when_others_give_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
