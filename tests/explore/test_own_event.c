/* SPDX-License-Identifier: MIT */
/* test_own_event.c - events, barriers, wait groups and once let everyone go on at the right time */
#include "tests/explore/own.h"

#define FIBERS 3u

struct test {
	struct fiber_event event;
	struct fiber_barrier barrier;
	struct fiber_waitgroup group;
	struct fiber_once once;
	unsigned before, after, last, cancelled;
	bool done;
};

/* -- event -- */

static void *wait_for_event(void *arg)
{
	struct test *t = arg;
	const int rc = fiber_event_wait(&t->event, own_deadline());

	fiber_test_assert(rc == 0 || own_given_up(rc));
	if (rc == 0)
		fiber_test_assert(t->done);
	t->after += rc == 0;
	t->before += own_given_up(rc);
	return NULL;
}

/* Those who wait when it is set go on, even if it is reset at once. */
static void set_and_reset(void *arg)
{
	struct test t = {.done = false};
	struct fiber *fibers[FIBERS];
	unsigned given_up;

	(void)arg;
	own_spawn(fibers, FIBERS, wait_for_event, &t, 0);
	own_cancel_one(fibers, FIBERS);
	fiber_test_settle();
	given_up = t.before;
	t.done = true;
	fiber_event_set(&t.event);
	fiber_event_reset(&t.event);
	own_join(fibers, FIBERS);
	fiber_test_assert(t.before + t.after == FIBERS && t.before >= given_up);
	fiber_test_assert(fiber_event_wait(&t.event, 0) == -ETIMEDOUT);
}

static void test_event_lets_all_go_on_who_wait_when_it_is_set(void **state)
{
	(void)state;
	EXPLORE_FAULTS(set_and_reset, NULL, FIBER_TEST_FAULT_CANCEL);
}

/* -- barrier -- */

/* Two rounds of all. A fiber that gives up has not arrived, and comes again, masked. */
static void *pass_twice(void *arg)
{
	struct test *t = arg;
	int rc;

	for (unsigned round = 1; round <= 2; round++) {
		t->before++;
		rc = fiber_barrier_wait(&t->barrier, own_deadline());
		if (own_given_up(rc)) {
			fiber_test_reached("given up");
			fiber_cancel_mask();
			rc = fiber_barrier_wait(&t->barrier, FIBER_FOREVER);
			fiber_cancel_unmask();
		}
		fiber_test_assert(rc == 0 || rc == FIBER_BARRIER_LAST);
		fiber_test_assert(t->before >= round * FIBERS);
		t->last += rc == FIBER_BARRIER_LAST;
	}
	return NULL;
}

static void two_rounds(void *arg)
{
	struct test t = {.before = 0};
	struct fiber *fibers[FIBERS];

	(void)arg;
	fiber_test_assert(fiber_barrier_init(&t.barrier, FIBERS) == 0);
	own_spawn(fibers, FIBERS, pass_twice, &t, 0);
	own_cancel_one(fibers, FIBERS);
	own_join(fibers, FIBERS);
	fiber_test_assert(t.last == 2);
}

static void test_barrier_opens_for_all_with_one_last_in_each_round(void **state)
{
	static const char *const reach[] = {"given up", NULL};

	(void)state;
	EXPLORE(two_rounds, NULL, .reach = reach);
	EXPLORE_FAULTS(two_rounds, NULL, FIBER_TEST_FAULT_CANCEL);
}

/* -- wait group -- */

static void *finish_one(void *arg)
{
	struct test *t = arg;

	fiber_sleep(fiber_test_choose(2, "ms") * OWN_MS);
	t->after++;
	fiber_waitgroup_done(&t->group);
	return NULL;
}

static void *wait_for_group(void *arg)
{
	struct test *t = arg;
	const int rc = fiber_waitgroup_wait(&t->group, own_deadline());

	fiber_test_assert(rc == 0 ? t->after == FIBERS : own_given_up(rc));
	return NULL;
}

static void count_down(void *arg)
{
	struct test t = {.after = 0};
	struct fiber *fibers[FIBERS], *waiter;

	(void)arg;
	fiber_waitgroup_add(&t.group, FIBERS);
	own_spawn(&waiter, 1, wait_for_group, &t, 0);
	own_spawn(fibers, FIBERS, finish_one, &t, 0);
	own_cancel_one(&waiter, 1);
	fiber_test_assert(fiber_waitgroup_wait(&t.group, FIBER_FOREVER) == 0);
	fiber_test_assert(t.after == FIBERS);
	own_join(&waiter, 1);
	own_join(fibers, FIBERS);
}

static void test_waitgroup_ends_when_all_are_done(void **state)
{
	(void)state;
	EXPLORE_FAULTS(count_down, NULL, FIBER_TEST_FAULT_CANCEL);
}

/* -- once -- */

/* Ends in the middle, or is done. */
static void begin_or_finish(void *arg)
{
	struct test *t = arg;

	fiber_test_assert(t->before++ == t->cancelled && !t->done);
	fiber_sleep(OWN_MS);
	if (fiber_test_choose(3, "exit") == 1) {
		t->cancelled++;
		fiber_test_reached("left");
		fiber_exit(NULL);
	}
	t->done = true;
}

static void *do_once(void *arg)
{
	struct test *t = arg;
	const int rc = fiber_once(&t->once, begin_or_finish, t);

	fiber_test_assert(rc == 0 ? t->done : rc == -ECANCELED);
	return NULL;
}

static void finish(void *arg)
{
	struct test *t = arg;

	t->before++;
	t->done = true;
}

static void once_for_all(void *arg)
{
	struct test t = {.before = 0};
	struct fiber *fibers[FIBERS];

	(void)arg;
	own_spawn(fibers, FIBERS, do_once, &t, 0);
	own_cancel_one(fibers, FIBERS);
	own_join(fibers, FIBERS);
	fiber_test_assert(fiber_once(&t.once, finish, &t) == 0);
	fiber_test_assert(t.done && t.before == t.cancelled + 1);
}

static void test_once_is_done_once_when_a_caller_leaves_in_the_middle(void **state)
{
	static const char *const reach[] = {"left", NULL};

	(void)state;
	EXPLORE(once_for_all, NULL, .reach = reach);
	EXPLORE_FAULTS(once_for_all, NULL, FIBER_TEST_FAULT_CANCEL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event_lets_all_go_on_who_wait_when_it_is_set),
		cmocka_unit_test(test_barrier_opens_for_all_with_one_last_in_each_round),
		cmocka_unit_test(test_waitgroup_ends_when_all_are_done),
		cmocka_unit_test(test_once_is_done_once_when_a_caller_leaves_in_the_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
