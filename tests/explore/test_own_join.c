/* SPDX-License-Identifier: MIT */
/* test_own_join.c - a join tells once how a fiber exited, after it has exited */
#include "tests/explore/own.h"

enum { RETURN, EXIT, FAIL, WAYS };

struct exiting {
	unsigned way;
	unsigned handlers; /* that have run */
	bool cancelled;	   /* that is how it sees itself at its end */
};

static void at_exit(void *arg)
{
	struct exiting *e = arg;

	fiber_sleep(OWN_MS);
	e->handlers++;
}

static void *exit_somehow(void *arg)
{
	struct exiting *e = arg;

	fiber_test_assert(fiber_at_exit(at_exit, e) == 0);
	fiber_sleep(OWN_MS);
	e->way = fiber_test_choose(WAYS, "way");
	if (e->way == EXIT)
		fiber_exit(&e->handlers);
	if (e->way == FAIL)
		fiber_fail(-EIO, NULL);
	return e;
}

static void expect_result(const struct exiting *e, const struct fiber_result *r, bool may_cancel)
{
	if (r->error == -ECANCELED)
		fiber_test_assert(may_cancel && e->way != FAIL);
	else
		fiber_test_assert(r->error == (e->way == FAIL ? -EIO : 0));
	if (e->handlers) /* it has begun */
		fiber_test_assert(r->value == (e->way == RETURN ? (const void *)e
					       : e->way == EXIT ? (const void *)&e->handlers
								: NULL));
}

/* arg: whether it may be cancelled */
static void join_with_deadlines(void *arg)
{
	struct exiting e = {.way = RETURN};
	struct fiber_result r = {.error = 1};
	struct fiber *f;
	int rc;

	own_spawn(&f, 1, exit_somehow, &e, 0);
	if (arg)
		own_cancel_one(&f, 1);
	rc = fiber_join(f, &r, own_deadline());
	fiber_test_assert(rc == 0 || rc == -ETIMEDOUT);
	if (rc == -ETIMEDOUT) {
		fiber_test_reached("timed out");
		fiber_test_assert(r.error == 1);
		fiber_test_assert(fiber_join(f, &r, FIBER_FOREVER) == 0);
	}
	fiber_test_assert(e.handlers == 1);
	expect_result(&e, &r, arg != NULL);
}

static void test_join_tells_the_result_after_the_exit(void **state)
{
	static const char *const reach[] = {"timed out", NULL};
	static bool yes = true;

	(void)state;
	EXPLORE_ALL(join_with_deadlines, NULL, .preemptions = 3);
	EXPLORE(join_with_deadlines, NULL, .reach = reach);
	EXPLORE_FAULTS(join_with_deadlines, &yes, FIBER_TEST_FAULT_CANCEL);
}

/* -- the joiner is cancelled -- */

struct relay {
	struct exiting exiting;
	struct fiber *first;
	bool joined;
};

static void *join_the_first(void *arg)
{
	struct relay *r = arg;
	const int rc = fiber_join(r->first, NULL, own_deadline());

	fiber_test_assert(rc == 0 || own_given_up(rc));
	r->joined = rc == 0;
	return NULL;
}

/* A joiner that gives up leaves the handle to the next. */
static void hand_on_the_handle(void *arg)
{
	struct relay r = {.joined = false};
	struct fiber_result result;
	struct fiber *second;

	(void)arg;
	own_spawn(&r.first, 1, exit_somehow, &r.exiting, 0);
	own_spawn(&second, 1, join_the_first, &r, 0);
	own_cancel_one(&second, 1);
	own_join(&second, 1);
	if (r.joined) {
		fiber_test_reached("joined");
		return;
	}
	fiber_test_reached("given up");
	fiber_test_assert(fiber_join(r.first, &result, FIBER_FOREVER) == 0);
	expect_result(&r.exiting, &result, true);
}

static void test_joiner_that_gives_up_leaves_the_fiber_to_another(void **state)
{
	static const char *const reach[] = {"joined", "given up", NULL};

	(void)state;
	EXPLORE(hand_on_the_handle, NULL, .reach = reach);
	EXPLORE_FAULTS(hand_on_the_handle, NULL, FIBER_TEST_FAULT_CANCEL);
}

/* -- detach -- */

static void *set_event(void *arg)
{
	fiber_event_set(arg);
	return NULL;
}

static void detach_at_any_time(void *arg)
{
	struct fiber_event done = {.set = 0};
	struct fiber *f;

	(void)arg;
	own_spawn(&f, 1, set_event, &done, 0);
	fiber_test_point("it may have exited");
	fiber_test_assert(fiber_detach(f) == 0);
	fiber_test_assert(fiber_event_wait(&done, FIBER_FOREVER) == 0);
	fiber_test_settle();
}

static void test_detached_fiber_releases_itself_whenever_it_exits(void **state)
{
	(void)state;
	EXPLORE_ALL(detach_at_any_time, NULL, .slack = -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join_tells_the_result_after_the_exit),
		cmocka_unit_test(test_joiner_that_gives_up_leaves_the_fiber_to_another),
		cmocka_unit_test(test_detached_fiber_releases_itself_whenever_it_exits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
