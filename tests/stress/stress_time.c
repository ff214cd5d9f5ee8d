/* SPDX-License-Identifier: MIT */
/*
 * stress_time.c - sleeps, timers and predicates: none too early, none forgotten
 *
 * Also the theme that checks the driver: a fiber that waits for a semaphore that is never posted.
 */
#include <errno.h>
#include <string.h>

#include "tests/stress/stress.h"

static struct fiber_timer *ticker;
static _Atomic uint64_t beats;

static void sleep_a_while(struct stress_actor *a)
{
	while (stress_on(a, "fiber_sleep_until")) {
		const int64_t until = stress_soon(a);
		const int rc = fiber_sleep_until(until);

		if (rc == 0 && fiber_now() < until)
			stress_wrong("woken %lld ns too early", (long long)(until - fiber_now()));
		stress_expect(rc, "fiber_sleep_until");
	}
}

static void wait_for_ticker(struct stress_actor *a)
{
	while (stress_on(a, "fiber_timer_wait")) {
		uint64_t n = 0;
		const int rc = fiber_timer_wait(ticker, &n, stress_deadline(a));

		stress_expect(rc, "fiber_timer_wait");
		if (rc == 0 && !n)
			stress_wrong("fiber_timer_wait gave no expiration");
	}
}

static void rearm(struct stress_actor *a)
{
	while (stress_on(a, "fiber_timer_arm")) {
		const int64_t period = stress_rand(a, 2) ? 1000 + stress_rand(a, 300000) : 0;

		fiber_timer_arm(ticker, stress_soon(a), period);
		fiber_sleep(stress_rand(a, 500000));
		beats++;
	}
}

static bool has_beaten(void *arg)
{
	return beats != *(uint64_t *)arg;
}

static void wait_for_beat(struct stress_actor *a)
{
	while (stress_on(a, "fiber_wait_until")) {
		uint64_t before = beats;

		stress_expect(fiber_wait_until(has_beaten, &before, stress_deadline(a)),
			      "fiber_wait_until");
	}
}

static void begin_time(void)
{
	beats = 0;
	if (fiber_timer_new(&ticker) < 0)
		stress_wrong("no memory for a timer");
	stress_add("sleep", 0, 16, sleep_a_while, NULL);
	stress_add("sleep-mortal", STRESS_MORTAL, 6, sleep_a_while, NULL);
	stress_add("sleep-thread", STRESS_THREAD, 1, sleep_a_while, NULL);
	stress_add("timer", 0, 6, wait_for_ticker, NULL);
	stress_add("timer-mortal", STRESS_MORTAL, 4, wait_for_ticker, NULL);
	stress_add("timer-thread", STRESS_THREAD, 2, wait_for_ticker, NULL);
	stress_add("predicate", 0, 4, wait_for_beat, NULL);
	stress_add("predicate-mortal", STRESS_MORTAL, 2, wait_for_beat, NULL);
	stress_add("rearm", STRESS_SERVER, 1, rearm, NULL);
}

static void check_time(void)
{
	fiber_timer_free(ticker);
}

const struct stress_theme stress_time = {"time", begin_time, check_time};

/* -- the check of the driver -- */

static struct fiber_sem never;

static void wait_in_vain(struct stress_actor *a)
{
	stress_at(a, "fiber_sem_wait, in vain");
	fiber_sem_wait(&never, FIBER_FOREVER);
}

static void begin_stall(void)
{
	fiber_object_name(&never, "never posted");
	stress_add("in-vain", 0, 1, wait_in_vain, NULL);
	stress_add("sleep", 0, 3, sleep_a_while, NULL);
}

const struct stress_theme stress_stall = {"stall", begin_stall, NULL};
