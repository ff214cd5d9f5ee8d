/* SPDX-License-Identifier: MIT */
/* test_own_timer.c - nothing ends before its time, and no expiration is lost or doubled */
#include "tests/explore/own.h"

#define FIBERS 3u
#define EXACT  (-1) /* slack: the clock stands still while a fiber can run */

/* -- sleep -- */

struct sleeper {
	unsigned *order; /* that have woken */
	int64_t ms;
	unsigned place;
};

static void *sleep_once(void *arg)
{
	struct sleeper *s = arg;
	const int64_t until = fiber_after(s->ms * OWN_MS);

	if (fiber_sleep_until(until) == 0)
		fiber_test_assert(fiber_now() >= until);
	else
		fiber_test_assert(fiber_cancelled());
	s->place = ++*s->order;
	return NULL;
}

static void sleep_together(void *arg)
{
	unsigned order = 0;
	struct sleeper sleepers[FIBERS];
	struct fiber *fibers[FIBERS];

	(void)arg;
	for (unsigned i = 0; i < FIBERS; i++)
		sleepers[i] = (struct sleeper){&order, 10 * (i + 1), 0};
	own_spawn(fibers, FIBERS, sleep_once, sleepers, sizeof *sleepers);
	own_join(fibers, FIBERS);
}

/* With the exact clock the shortest sleep ends first, in any order of beginnings. */
static void sleep_in_order(void *arg)
{
	const int64_t begin = fiber_now();
	unsigned order = 0;
	struct sleeper sleepers[2] = {{&order, 2, 0}, {&order, 1, 0}};
	struct fiber *fibers[2];

	(void)arg;
	own_spawn(fibers, 2, sleep_once, sleepers, sizeof *sleepers);
	own_join(fibers, 2);
	fiber_test_assert(sleepers[0].place == 2 && sleepers[1].place == 1);
	fiber_test_assert(fiber_now() == begin + 2 * OWN_MS);
}

static void test_no_sleep_ends_before_its_time(void **state)
{
	(void)state;
	EXPLORE_FAULTS(sleep_together, NULL, FIBER_TEST_FAULT_CANCEL);
	EXPLORE_ALL(sleep_in_order, NULL, .slack = EXACT);
}

/* -- a timer with a period -- */

struct test {
	struct fiber_timer *timer;
	int64_t first;
	uint64_t given; /* expirations */
};

/* One fiber at a time waits: each expiration is given to one call. */
static void take_expirations(struct test *t)
{
	uint64_t n;

	for (unsigned i = 0; i < 2; i++) {
		n = 0;
		if (fiber_timer_wait(t->timer, &n, own_deadline()) < 0) {
			fiber_test_reached("given up");
			continue;
		}
		fiber_test_assert(n >= 1 && fiber_now() >= t->first);
		t->given += n;
		/* No more than the time allows. */
		fiber_test_assert((int64_t)t->given <= (fiber_now() - t->first) / OWN_MS + 1);
	}
}

static void *wait_for_timer(void *arg)
{
	take_expirations(arg);
	return NULL;
}

static void count_expirations(void *arg)
{
	struct test t = {.first = fiber_after(OWN_MS)};
	struct fiber *f;
	uint64_t n = 0;

	(void)arg;
	fiber_test_assert(fiber_timer_new(&t.timer) == 0);
	fiber_test_assert(fiber_timer_arm(t.timer, t.first, OWN_MS) == 0);
	own_spawn(&f, 1, wait_for_timer, &t, 0);
	own_cancel_one(&f, 1);
	own_join(&f, 1);
	take_expirations(&t);
	/* The exact clock: what has not been given until now is given now. */
	fiber_sleep(3 * OWN_MS);
	fiber_test_assert(fiber_timer_wait(t.timer, &n, FIBER_FOREVER) == 0);
	fiber_test_assert((int64_t)(t.given + n) == (fiber_now() - t.first) / OWN_MS + 1);
	fiber_timer_free(t.timer);
}

static void test_no_expiration_is_lost_or_doubled(void **state)
{
	static const char *const reach[] = {"given up", NULL};

	(void)state;
	EXPLORE(count_expirations, NULL, .slack = EXACT, .reach = reach);
	EXPLORE_FAULTS(count_expirations, NULL, FIBER_TEST_FAULT_CANCEL, .slack = EXACT);
}

/* -- a timer that is set anew -- */

struct moved {
	struct fiber_timer *timer;
	int64_t until;
	unsigned woken;
};

static void *wait_until_moved(void *arg)
{
	struct moved *m = arg;
	uint64_t n;

	if (fiber_timer_wait(m->timer, &n, FIBER_FOREVER) == 0)
		fiber_test_assert(fiber_now() >= m->until && n == 1);
	else
		fiber_test_assert(fiber_cancelled());
	m->woken++;
	return NULL;
}

/* It expires once, for all who wait, at the later time. */
static void move_timer(void *arg)
{
	struct moved m = {.until = fiber_after(5 * OWN_MS)};
	struct fiber *fibers[2];

	(void)arg;
	fiber_test_assert(fiber_timer_new(&m.timer) == 0);
	fiber_timer_arm(m.timer, fiber_after(500 * OWN_MS), 0); /* beyond the slack */
	own_spawn(fibers, 2, wait_until_moved, &m, 0);
	fiber_test_settle();
	fiber_timer_arm(m.timer, m.until, 0);
	own_join(fibers, 2);
	fiber_test_assert(m.woken == 2);
	fiber_timer_free(m.timer);
}

static void test_timer_that_is_moved_wakes_every_waiter_at_the_new_time(void **state)
{
	(void)state;
	EXPLORE_ALL(move_timer, NULL, .preemptions = 3);
	EXPLORE_ALL(move_timer, NULL, .preemptions = 2, .faults = FIBER_TEST_FAULT_CANCEL);
}

/* What expired before is dropped. */
static void arm_again(void *arg)
{
	const int64_t until = fiber_after(5 * OWN_MS);
	struct fiber_timer *timer;
	uint64_t n = 0;

	(void)arg;
	fiber_test_assert(fiber_timer_new(&timer) == 0);
	fiber_timer_arm(timer, fiber_now(), OWN_MS);
	fiber_sleep((int64_t)fiber_test_choose(3, "ms") * OWN_MS);
	fiber_timer_arm(timer, until, 0);
	fiber_test_assert(fiber_timer_wait(timer, &n, FIBER_FOREVER) == 0);
	fiber_test_assert(n == 1 && fiber_now() >= until);
	fiber_test_assert(fiber_timer_wait(timer, &n, fiber_after(OWN_MS)) == -ETIMEDOUT);
	fiber_timer_free(timer);
}

static void test_timer_that_is_armed_again_drops_what_expired_before(void **state)
{
	(void)state;
	EXPLORE_ALL(arm_again, NULL, .slack = EXACT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_sleep_ends_before_its_time),
		cmocka_unit_test(test_no_expiration_is_lost_or_doubled),
		cmocka_unit_test(test_timer_that_is_moved_wakes_every_waiter_at_the_new_time),
		cmocka_unit_test(test_timer_that_is_armed_again_drops_what_expired_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
