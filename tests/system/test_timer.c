/* SPDX-License-Identifier: MIT */
/* test_timer.c - a periodic timer with many waiters, and a timeout that is reset */
#include "carriers.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

struct beat {
	struct fiber_timer *timer;
	int64_t first, period;
	atomic_int early;
};

/* Follow the timer for 20 expirations; returns the number of calls. */
static void *follow(void *arg)
{
	struct beat *b = arg;
	uint64_t seen = 0;
	intptr_t calls = 0;

	while (seen < 20) {
		uint64_t n = 0;

		if (fiber_timer_wait(b->timer, &n, FIBER_FOREVER) < 0)
			return NULL;
		seen += n;
		calls++;
		b->early += fiber_now() < b->first;
	}
	return (void *)calls;
}

static void *lead(void *arg)
{
	struct beat *b = arg;
	struct fiber *f[50];
	struct fiber_result r[50] = {0};
	intptr_t bad = 0;

	for (size_t i = 0; i < COUNT(f); i++)
		fiber_spawn(follow, b, &f[i]);
	for (size_t i = 0; i < COUNT(f); i++)
		carriers_await_suspended(f[i]);
	b->first = fiber_after(2 * MS);
	fiber_timer_arm(b->timer, b->first, b->period);
	for (size_t i = 0; i < COUNT(f); i++) {
		fiber_join(f[i], &r[i], FIBER_FOREVER);
		bad += !r[i].value || (intptr_t)r[i].value > 20;
	}
	return (void *)bad;
}

static void test_timer_periodic_reaches_every_follower(void **state)
{
	struct beat b = {.period = MS};
	struct fiber_result r;

	(void)state;
	assert_int_equal(fiber_timer_new(&b.timer), 0);
	r = carriers_run(lead, &b);
	assert_int_equal((intptr_t)r.value, 0);
	assert_int_equal(b.early, 0);
	fiber_timer_free(b.timer);
}

struct dog {
	struct fiber_timer *timer;
	atomic_bool barked;
	bool too_early;
};

static void *watch(void *arg)
{
	struct dog *d = arg;

	fiber_timer_wait(d->timer, NULL, FIBER_FOREVER);
	d->barked = true;
	return NULL;
}

/* The timer does not expire while it is reset in time; then it does. */
static void *push_back(void *arg)
{
	struct dog *d = arg;
	struct fiber *watcher;
	int64_t limit = fiber_after(20000 * MS);

	fiber_timer_arm(d->timer, limit, 0);
	fiber_spawn(watch, d, &watcher);
	for (int i = 0; i < 50; i++) {
		fiber_sleep(MS / 10);
		limit += MS;
		fiber_timer_arm(d->timer, limit, 0);
	}
	d->too_early = d->barked;
	limit = fiber_after(MS);
	fiber_timer_arm(d->timer, limit, 0);
	fiber_join(watcher, NULL, FIBER_FOREVER);
	d->too_early |= fiber_now() < limit;
	return NULL;
}

static void test_timer_pushed_back_expires_when_nobody_does_any_more(void **state)
{
	struct dog d = {0};

	(void)state;
	assert_int_equal(fiber_timer_new(&d.timer), 0);
	carriers_run(push_back, &d);
	assert_true(d.barked);
	assert_false(d.too_early);
	fiber_timer_free(d.timer);
}

static void *arm_for_thread(void *arg)
{
	fiber_timer_arm(arg, fiber_after(MS), 0);
	return NULL;
}

static void *wait_in_thread(void *arg)
{
	return (void *)(intptr_t)fiber_timer_wait(arg, NULL, FIBER_FOREVER);
}

static void test_timer_armed_by_a_fiber_wakes_a_thread(void **state)
{
	struct fiber_timer *t;
	pthread_t thread;
	void *rc = &rc;

	(void)state;
	assert_int_equal(fiber_timer_new(&t), 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_in_thread, t), 0);
	carriers_run(arm_for_thread, t);
	pthread_join(thread, &rc);
	assert_null(rc);
	fiber_timer_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timer_periodic_reaches_every_follower),
		cmocka_unit_test(test_timer_pushed_back_expires_when_nobody_does_any_more),
		cmocka_unit_test(test_timer_armed_by_a_fiber_wakes_a_thread),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
