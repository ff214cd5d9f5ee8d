/* SPDX-License-Identifier: MIT */
/* test_ready.c - a fiber that becomes runnable is queued where it is found, in its order */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "carriers.h"
#include "tests/harness/watchdog.h"

static unsigned order[8], ran;

/* For functions that cannot return a result. */
static void insist(bool holds)
{
	if (!holds)
		abort();
}

static void *parks(void *arg)
{
	fiber_park(FIBER_FOREVER);
	order[ran++] = (unsigned)(uintptr_t)arg;
	return NULL;
}

/* Parks n fibers numbered from 1. */
static void park_some(struct fiber **f, unsigned n)
{
	ran = 0;
	for (unsigned i = 0; i < n; i++)
		insist(fiber_spawn(parks, (void *)(uintptr_t)(i + 1), &f[i]) == 0);
	fiber_yield();
}

/* Claims f's park without making f runnable. */
static void claim(struct fiber *f)
{
	uint32_t word = fib_load_acquire(&f->parker.word);

	fib_store(&f->token, 1);
	insist(fib_parker_claim(&f->parker, word, FIB_OUTCOME_WOKEN));
}

static void join_all(struct fiber **f, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		insist(fiber_join(f[i], NULL, FIBER_FOREVER) == 0);
}

static void *readies_in_order(void *arg)
{
	struct fib_carrier *c = fib_carrier_self();
	struct fiber *f[4];

	park_some(f, 4);
	for (unsigned i = 0; i < 4; i++) {
		must(fiber_state(f[i]) == FIBER_SUSPENDED);
		claim(f[i]);
	}
	fib_ready(f[0], false);
	fib_ready(f[1], true);
	must(fib_load(&c->woken) == f[1]);
	fib_ready(f[2], false);
	fib_ready(f[3], true); /* takes the slot of f[1], which goes to the end */
	must(fib_load(&c->woken) == f[3]);
	for (unsigned i = 0; i < 4; i++)
		must(fiber_state(f[i]) == FIBER_RUNNABLE);
	join_all(f, 4);
	must(order[0] == 4 && order[1] == 1 && order[2] == 3 && order[3] == 2);
	return arg;
}

static void test_ready_front_goes_first_and_displaces_to_the_end(void **state)
{
	(void)state;
	prove(1, readies_in_order, NULL);
}

static void *notes(void *arg)
{
	order[ran++] = (unsigned)(uintptr_t)arg;
	return NULL;
}

static void *readies_fresh(void *arg)
{
	struct fiber *f[3];

	park_some(f, 1);
	claim(f[0]);
	must(fiber_spawn(notes, (void *)2, &f[1]) == 0);
	fib_ready(f[0], false);
	must(fiber_spawn(notes, (void *)3, &f[2]) == 0);
	must(fiber_state(f[1]) == FIBER_RUNNABLE);
	join_all(f, 3);
	must(order[0] == 2 && order[1] == 1 && order[2] == 3);
	return arg;
}

static void test_ready_fresh_stands_in_one_line_with_the_others(void **state)
{
	(void)state;
	prove(1, readies_fresh, NULL);
}

static void *readies_from_outside(void *arg)
{
	fib_ready(arg, true);
	return NULL;
}

static void *is_readied_from_outside(void *arg)
{
	struct fib_carrier *c = fib_carrier_self();
	pthread_t thread;
	struct fiber *f;

	park_some(&f, 1);
	claim(f);
	must(pthread_create(&thread, NULL, readies_from_outside, f) == 0);
	must(pthread_join(thread, NULL) == 0);
	must(fib_load(&c->woken) == NULL);
	must(fib_runqueue_empty(&c->queue));
	must(!fib_inbox_empty(&c->sched->inbox));
	/* The thread that made this fiber runnable may not have left yet; the watchdog ends a wait for ever. */
	while (fib_load(&c->sched->visitors))
		sched_yield();
	join_all(&f, 1);
	return arg;
}

static void test_ready_from_a_thread_goes_into_the_inject_queue(void **state)
{
	(void)state;
	prove(1, is_readied_from_outside, NULL);
}

static struct fiber *for_hook[2];
static _Atomic int by_hook; /* 1: requested, 2: done, -1: called with a deadline in the past */

/* Wake one fiber and spawn one, once, long after the last look at the clock. */
static int hook_readies(void *arg, int64_t deadline)
{
	struct fiber *f[2];
	int64_t now = fib_os_now();
	bool right;

	(void)deadline;
	if (fib_load_acquire(&by_hook) != 1)
		return -1;
	insist(fib_coarse_now() < now);
	f[0] = for_hook[0];
	fiber_unpark(f[0]);
	insist(fib_spawn(arg, NULL, parks, NULL, NULL, &f[1]) == 0);
	right = fib_load(&f[0]->since) >= now && fib_load(&f[1]->since) >= now;
	for_hook[1] = f[1];
	fib_store_release(&by_hook, right ? 2 : -1);
	return 0;
}

static void test_ready_in_a_hook_is_of_that_moment(void **state)
{
	struct fib_sched s;
	int64_t began;

	(void)state;
	ran = 0;
	carriers_start(&s, 1);
	carriers_serve(&s, hook_readies, &s);
	for_hook[0] = carriers_spawn(&s, "parks", parks, NULL);
	while (fib_load(&for_hook[0]->state) != FIBER_SUSPENDED || !fib_idle_all_asleep(&s))
		sched_yield();
	for (began = fib_os_now(); fib_os_now() <= began + 1000000;)
		;
	fib_store_release(&by_hook, 1);
	s.poller->ops->wake(s.poller);
	while (fib_load_acquire(&by_hook) == 1)
		sched_yield();
	assert_int_equal(fib_load(&by_hook), 2);
	fiber_unpark(for_hook[1]);
	join_all(for_hook, 2);
	carriers_stop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ready_front_goes_first_and_displaces_to_the_end),
		cmocka_unit_test(test_ready_fresh_stands_in_one_line_with_the_others),
		cmocka_unit_test(test_ready_from_a_thread_goes_into_the_inject_queue),
		cmocka_unit_test(test_ready_in_a_hook_is_of_that_moment),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
