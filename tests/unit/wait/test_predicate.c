/* SPDX-License-Identifier: MIT */
/* test_predicate.c - how often a predicate is called, what a reader sees, how the wait ends */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>

#include "tests/harness/watchdog.h"
#include "tests/unit/sched/carriers.h"

#define MS INT64_C(1000000)

struct asked {
	_Atomic unsigned calls;
	unsigned ready_at; /* the call that returns true; 0: none */
	_Atomic uint32_t yes;
};

static bool ask(void *arg)
{
	struct asked *a = arg;

	return fib_add(&a->calls, 1) + 1 == a->ready_at || fib_load_acquire(&a->yes);
}

static void *at_once(void *arg)
{
	struct asked a = {.ready_at = 1}, never = {0};

	(void)arg;
	must(fiber_wait_until(ask, &a, 0) == 0);
	must(a.calls == 1);
	/* A deadline in the past: one call, without waiting. */
	must(fiber_wait_until(ask, &never, 0) == -ETIMEDOUT);
	must(fiber_wait_until(ask, &never, INT64_MIN) == -ETIMEDOUT);
	must(never.calls == 2);
	return NULL;
}

static void test_predicate_that_holds_is_asked_once(void **state)
{
	struct asked a = {.ready_at = 1}, never = {0};

	(void)state;
	prove(1, at_once, NULL);
	assert_int_equal(fiber_wait_until(ask, &a, FIBER_FOREVER), 0);
	assert_int_equal(fiber_wait_until(ask, &never, fiber_now()), -ETIMEDOUT);
	assert_int_equal(fib_load(&a.calls), 1);
	assert_int_equal(fib_load(&never.calls), 1);
}

static void *say_yes(void *arg)
{
	struct asked *a = arg;

	for (int i = 0; i < 3; i++)
		fiber_yield();
	fib_store_release(&a->yes, 1);
	return NULL;
}

static void *by_yields(void *arg)
{
	struct asked a = {0};
	struct fiber *other;

	(void)arg;
	must(fiber_spawn(say_yes, &a, &other) == 0);
	must(fiber_wait_until(ask, &a, FIBER_FOREVER) == 0);
	/* There is one call a round: the fiber slept through no round. */
	must(a.calls <= 6);
	must(fiber_join(other, NULL, FIBER_FOREVER) == 0);
	return NULL;
}

static void test_predicate_is_asked_after_each_yield_at_first(void **state)
{
	(void)state;
	prove(1, by_yields, NULL);
}

static void *until_deadline(void *arg)
{
	struct asked a = {0};
	int64_t deadline = fiber_after(50 * MS);

	(void)arg;
	must(fiber_wait_until(ask, &a, deadline) == -ETIMEDOUT);
	must(fiber_now() >= deadline);
	must(!fiber_self()->timers);
	/* 33 calls at once and between yields, 7 with growing naps, one a millisecond, and the
	 * last. */
	must(a.calls > 33);
	must(a.calls <= 33 + 7 + 50 + 1);
	return NULL;
}

static void test_predicate_is_asked_at_most_once_a_millisecond_in_the_long_run(void **state)
{
	(void)state;
	prove(1, until_deadline, NULL);
}

static void *wait_for_yes(void *arg)
{
	return (void *)(intptr_t)fiber_wait_until(ask, arg, fiber_after(3600 * 1000 * MS));
}

static void *shown(void *arg)
{
	struct asked a = {0};
	int64_t began = fib_coarse_now();
	struct fiber *f;
	struct fiber_result r;

	(void)arg;
	must(fiber_spawn(wait_for_yes, &a, &f) == 0);
	/* By then each nap lasts a millisecond, and the fiber is in the middle of one. */
	while (fib_load(&a.calls) < 45 || fiber_state(f) != FIBER_SUSPENDED)
		fiber_sleep(100000);
	must(fib_load(&f->wait_kind) == FIB_WAIT_PREDICATE);
	must(f->wait_object == (uint64_t)(uintptr_t)&a);
	must(f->wait_deadline > fiber_after(3000 * 1000 * MS));
	must((int64_t)f->wait_arg >= began && (int64_t)f->wait_arg <= fib_load(&f->since));
	/* The wait began longer ago than any nap. */
	must(fiber_now() - (int64_t)f->wait_arg > 2 * MS);
	fib_store_release(&a.yes, 1);
	must(fiber_join(f, &r, FIBER_FOREVER) == 0);
	must(!r.value);
	return NULL;
}

static void test_predicate_wait_shows_its_kind_its_age_and_its_deadline(void **state)
{
	(void)state;
	prove(1, shown, NULL);
}

static void *thread_waits(void *arg)
{
	return wait_for_yes(arg);
}

static void test_predicate_is_waited_for_by_a_thread(void **state)
{
	struct asked a = {0};
	pthread_t thread;
	void *rc = &rc;

	(void)state;
	assert_int_equal(fiber_wait_until(ask, &a, fiber_after(3 * MS)), -ETIMEDOUT);
	assert_true(fib_load(&a.calls) <= 1 + 7 + 3 + 1);
	assert_int_equal(pthread_create(&thread, NULL, thread_waits, &a), 0);
	while (fib_load(&a.calls) < 20)
		fib_os_yield();
	fib_store_release(&a.yes, 1);
	pthread_join(thread, &rc);
	assert_null(rc);
}

static void *pinned(void *arg)
{
	struct fib_pinned *p = &fiber_self()->sched->pinned;
	struct asked a = {0};
	uint64_t events = fib_load(&p->count);

	(void)arg;
	fiber_pin();
	must(fiber_wait_until(ask, &a, fiber_after(5 * MS)) == -ETIMEDOUT);
	/* It is one wait, whatever the number of calls. */
	must(fib_load(&p->count) == events + 1);
	must(fib_load(&fiber_self()->wait_kind) == FIB_WAIT_NONE);
	fib_store(&p->policy, FIBER_PINNED_ERROR);
	must(fiber_wait_until(ask, &a, FIBER_FOREVER) == -EDEADLK);
	fib_store(&a.yes, 1);
	must(fiber_wait_until(ask, &a, FIBER_FOREVER) == 0);
	fiber_unpin();
	return NULL;
}

static void test_predicate_wait_of_a_pinned_fiber_asks_the_policy_once(void **state)
{
	(void)state;
	prove(1, pinned, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_predicate_that_holds_is_asked_once),
		cmocka_unit_test(test_predicate_is_asked_after_each_yield_at_first),
		cmocka_unit_test(
			test_predicate_is_asked_at_most_once_a_millisecond_in_the_long_run),
		cmocka_unit_test(test_predicate_wait_shows_its_kind_its_age_and_its_deadline),
		cmocka_unit_test(test_predicate_is_waited_for_by_a_thread),
		cmocka_unit_test(test_predicate_wait_of_a_pinned_fiber_asks_the_policy_once),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
