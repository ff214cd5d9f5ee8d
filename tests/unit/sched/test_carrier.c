/* SPDX-License-Identifier: MIT */
/* test_carrier.c - a carrier finds all work: its own, that of others, and work from outside */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "carriers.h"
#include "tests/harness/watchdog.h"

static void *knows_its_carrier(void *arg)
{
	struct fib_carrier *c = fib_carrier_self();
	char name[16] = "";

	must(c != NULL);
	must(c->current == fiber_self());
	must(c->sched == fiber_self()->sched);
	must(c == &c->sched->carriers[c->index]);
	must(fiber_self()->carrier == c->index);
	must(pthread_equal(c->thread, pthread_self()));
	must(pthread_getname_np(pthread_self(), name, sizeof name) == 0);
	must(!strcmp(name, "fiber-carrier"));
	return arg;
}

static void test_carrier_is_known_inside_a_fiber_and_nowhere_else(void **state)
{
	(void)state;
	assert_null(fib_carrier_self());
	prove(1, knows_its_carrier, NULL);
	prove(3, knows_its_carrier, NULL);
	assert_null(fib_carrier_self());
}

/* -- nothing ticks here: another carrier must take what a busy carrier does not run -- */

static _Atomic bool ran;

static void *notes(void *arg)
{
	fib_store(&ran, true);
	return arg;
}

static void await_run(void)
{
	while (!fib_load(&ran))
		sched_yield(); /* yields the thread; the fiber keeps its carrier */
}

static void *keeps_its_carrier(void *arg)
{
	struct fiber *f;
	unsigned i;

	for (i = 0; i < 500; i++) {
		fib_store(&ran, false);
		must(fiber_spawn(notes, NULL, &f) == 0);
		await_run();
		must(fiber_join(f, NULL, FIBER_FOREVER) == 0);
	}
	return arg;
}

static void test_carrier_that_is_busy_is_robbed_of_its_queue(void **state)
{
	(void)state;
	prove(2, keeps_its_carrier, NULL);
	prove(4, keeps_its_carrier, NULL);
}

static void *parks_and_notes(void *arg)
{
	while (!fiber_park(FIBER_FOREVER) && !fib_load(&ran))
		fib_store(&ran, true);
	return arg;
}

static void *wakes_and_keeps_its_carrier(void *arg)
{
	struct fiber *f;
	unsigned i;

	for (i = 0; i < 500; i++) {
		fib_store(&ran, false);
		must(fiber_spawn(parks_and_notes, NULL, &f) == 0);
		fiber_yield();
		/*
		 * The fiber goes into the slot of the last woken fiber, which this busy carrier
		 * never reads.
		 */
		must(fiber_unpark(f) == 0);
		await_run();
		must(fiber_unpark(f) == 0);
		must(fiber_join(f, NULL, FIBER_FOREVER) == 0);
	}
	return arg;
}

static void test_carrier_that_is_busy_is_robbed_of_the_fiber_it_woke(void **state)
{
	(void)state;
	prove(2, wakes_and_keeps_its_carrier, NULL);
}

/* -- bound fibers -- */

static void *stays(void *arg)
{
	unsigned i, home = fib_carrier_self()->index;

	must(home == fiber_id(fiber_self()) % fiber_self()->sched->carrier_count);
	for (i = 0; i < 300; i++) {
		if (i % 3)
			must(fiber_yield() == 0);
		else
			must(fiber_sleep(1000) == 0);
		must(fib_carrier_self()->index == home);
	}
	return arg;
}

static void test_carrier_keeps_what_is_bound_to_it(void **state)
{
	struct fiber_result r;
	struct fiber *f[24];
	struct fib_sched s;
	unsigned i;

	(void)state;
	carriers_start(&s, 4);
	for (i = 0; i < 24; i++)
		f[i] = carriers_spawn_flags(&s, "bound", FIBER_BOUND, stays, NULL);
	for (i = 0; i < 24; i++) {
		assert_int_equal(fiber_join(f[i], &r, FIBER_FOREVER), 0);
		_assert_true(!r.value, r.value ? r.value : "", __FILE__, __LINE__);
	}
	carriers_stop(&s);
}

/* -- work from outside while the queue is never empty -- */

static void *yields_until_it_ran(void *arg)
{
	unsigned yields = 0;

	while (!fib_load(&ran)) {
		must(fiber_yield() == 0);
		yields++;
	}
	return arg;
}

static void test_carrier_with_a_hot_queue_looks_outside(void **state)
{
	struct fib_sched s;
	struct fiber *f[4];
	unsigned i, flags;

	(void)state;
	for (flags = 0; flags <= FIBER_BOUND; flags += FIBER_BOUND) {
		fib_store(&ran, false);
		carriers_start(&s, 1);
		for (i = 0; i < 3; i++)
			f[i] = carriers_spawn(&s, "hot", yields_until_it_ran, NULL);
		/* The fiber comes through the inject queue, or through the inbox if it is bound. */
		f[3] = carriers_spawn_flags(&s, "outside", flags, notes, NULL);
		for (i = 0; i < 4; i++)
			assert_int_equal(fiber_join(f[i], NULL, FIBER_FOREVER), 0);
		carriers_stop(&s);
	}
}

static void *sleeps_and_notes(void *arg)
{
	fiber_sleep(1000000);
	fib_store(&ran, true);
	return arg;
}

static void test_carrier_with_a_hot_queue_expires_its_timers(void **state)
{
	struct fib_sched s;
	struct fiber *f[4];
	unsigned i;

	(void)state;
	fib_store(&ran, false);
	carriers_start(&s, 1);
	f[0] = carriers_spawn(&s, "sleeper", sleeps_and_notes, NULL);
	for (i = 1; i < 4; i++)
		f[i] = carriers_spawn(&s, "hot", yields_until_it_ran, NULL);
	for (i = 0; i < 4; i++)
		assert_int_equal(fiber_join(f[i], NULL, FIBER_FOREVER), 0);
	carriers_stop(&s);
}

/* -- an idle fiber that yielded -- */

static _Atomic unsigned where;

static void *holds_that_carrier(void *arg)
{
	while (!fib_load(&ran) && fiber_self()->carrier == fib_load(&where))
		sched_yield();
	return arg;
}

/*
 * The carrier finds the other fiber first, which does not exit before this fiber has run again. For
 * a bound fiber no other carrier is woken.
 */
static void *yields_to_one_that_waits_for_it(void *arg)
{
	struct fiber_attr attr = {.size = sizeof attr, .flags = (unsigned)(uintptr_t)arg};
	struct fiber *f;
	unsigned i;

	for (i = 0; i < 200; i++) {
		fib_store(&ran, false);
		fib_store(&where, fib_carrier_self()->index);
		must(fiber_spawn_attr(&attr, holds_that_carrier, NULL, &f) == 0);
		/* Sometimes let the other carrier fall asleep. */
		while (i % 8 == 0 && fib_load(&f->state) == FIBER_RUNNABLE &&
		       !(fib_load(&f->sched->idle.word) >> 16))
			sched_yield();
		fiber_yield();
		fib_store(&ran, true);
		fiber_join(f, NULL, FIBER_FOREVER);
	}
	return NULL;
}

static void test_carrier_that_found_work_tells_of_the_idle_fiber_it_put_back(void **state)
{
	struct fib_sched s;
	struct fiber_result r;
	struct fiber *f;
	unsigned flags;

	(void)state;
	for (flags = 0; flags <= FIBER_BOUND; flags += FIBER_BOUND) {
		carriers_start(&s, 2);
		f = carriers_spawn_flags(&s, "idle", FIBER_IDLE, yields_to_one_that_waits_for_it,
					 (void *)(uintptr_t)flags);
		assert_int_equal(fiber_join(f, &r, FIBER_FOREVER), 0);
		_assert_true(!r.value, r.value ? r.value : "", __FILE__, __LINE__);
		carriers_stop(&s);
	}
}

/* -- fib_work_visible, over carriers that do not run -- */

static struct fib_sched still;

static void test_carrier_sees_work_wherever_it_lies(void **state)
{
	struct fib_carrier *c = aligned_alloc(FIB_CACHE_LINE, 2 * sizeof *c);
	struct fiber *f = aligned_alloc(FIB_CACHE_LINE, sizeof *f);

	(void)state;
	assert_true(c && f);
	memset(c, 0, 2 * sizeof *c);
	fib_runqueue_init(&c[0].queue, false);
	fib_runqueue_init(&c[1].queue, false);
	memset(f, 0, sizeof *f);
	still.carriers = c;
	still.carrier_count = 2;
	assert_false(fib_work_visible(&still, NULL));
	assert_false(fib_work_visible(&still, &c[0]));
	fib_inbox_put(&still.inbox, f);
	assert_true(fib_work_visible(&still, &c[0]));
	assert_true(fib_work_visible(&still, NULL));
	fib_inbox_take(&still.inbox);
	fib_runqueue_put(&c[1].queue, f);
	assert_true(fib_work_visible(&still, &c[0]));
	fib_runqueue_take(&c[1].queue);
	fib_store(&c[1].woken, f);
	assert_true(fib_work_visible(&still, &c[0]));
	fib_store(&c[1].woken, NULL);
	/* Work bound to a carrier is no work for other carriers. */
	fib_inbox_put(&c[1].inbox, f);
	assert_true(fib_work_visible(&still, &c[1]));
	assert_false(fib_work_visible(&still, &c[0]));
	assert_false(fib_work_visible(&still, NULL));
	free(c);
	free(f);
}

/* -- everything at once -- */

static _Atomic unsigned ended;

static void *works(void *arg)
{
	unsigned i, n = (unsigned)(uintptr_t)arg;

	for (i = 0; i < 20; i++) {
		if ((i + n) % 7 == 0)
			fiber_sleep(10000);
		else
			fiber_yield();
	}
	fib_add_relaxed(&ended, 1);
	return arg;
}

static void *crowds(void *arg)
{
	uintptr_t i;

	for (i = 0; i < 300; i++)
		must(fiber_spawn(works, (void *)i, NULL) == 0);
	return arg;
}

static void test_carriers_run_everything_to_its_end(void **state)
{
	unsigned n;

	(void)state;
	for (n = 1; n <= 4; n *= 2) {
		fib_store(&ended, 0);
		prove(n, crowds, NULL);
		assert_int_equal(fib_load(&ended), 300);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_carrier_is_known_inside_a_fiber_and_nowhere_else),
		cmocka_unit_test(test_carrier_that_is_busy_is_robbed_of_its_queue),
		cmocka_unit_test(test_carrier_that_is_busy_is_robbed_of_the_fiber_it_woke),
		cmocka_unit_test(test_carrier_keeps_what_is_bound_to_it),
		cmocka_unit_test(test_carrier_with_a_hot_queue_looks_outside),
		cmocka_unit_test(test_carrier_with_a_hot_queue_expires_its_timers),
		cmocka_unit_test(test_carrier_that_found_work_tells_of_the_idle_fiber_it_put_back),
		cmocka_unit_test(test_carrier_sees_work_wherever_it_lies),
		cmocka_unit_test(test_carriers_run_everything_to_its_end),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
