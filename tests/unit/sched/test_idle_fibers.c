/* SPDX-License-Identifier: MIT */
/* test_idle_fibers.c - an idle fiber runs when nothing else is runnable, and then at once */
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

static struct fiber *spawn_idle(unsigned more, fiber_fn *fn, void *arg)
{
	struct fiber_attr attr = {.size = sizeof attr, .flags = FIBER_IDLE | more};
	struct fiber *f;

	if (fiber_spawn_attr(&attr, fn, arg, &f) < 0)
		abort();
	return f;
}

/* -- the lists, over carriers that do not run -- */

static struct fib_sched still;

static void test_spare_is_taken_in_order_bound_ones_and_others_in_turn(void **state)
{
	struct fib_carrier *c = aligned_alloc(FIB_CACHE_LINE, 2 * sizeof *c);
	struct fiber *f = aligned_alloc(FIB_CACHE_LINE, 7 * sizeof *f);
	unsigned i;

	(void)state;
	assert_true(c && f);
	memset(c, 0, 2 * sizeof *c);
	memset(f, 0, 7 * sizeof *f);
	still = (struct fib_sched){.carriers = c, .carrier_count = 2};
	c[0].sched = &still;
	for (i = 0; i < 7; i++)
		f[i].flags = FIBER_IDLE | (i > 2 ? FIBER_BOUND : 0);
	f[6].carrier = 1;
	assert_false(fib_idle_fibers_visible(&still, &c[0]));
	for (i = 3; i < 7; i++)
		fib_idle_fibers_put(&still, &f[i]);
	/* Work bound to a carrier is no work for other carriers. */
	assert_true(fib_idle_fibers_visible(&still, &c[0]));
	assert_false(fib_idle_fibers_visible(&still, NULL));
	for (i = 0; i < 3; i++)
		fib_idle_fibers_put(&still, &f[i]);
	assert_true(fib_idle_fibers_visible(&still, NULL));
	for (i = 0; i < 3; i++) {
		c[0].picks = FIB_LOOK_EVERY;
		assert_ptr_equal(fib_idle_fibers_take(&c[0]), &f[i]);
		assert_int_equal(c[0].picks, 1);
		assert_ptr_equal(fib_idle_fibers_take(&c[0]), &f[3 + i]);
	}
	c[0].picks = FIB_LOOK_EVERY;
	assert_null(fib_idle_fibers_take(&c[0]));
	assert_int_equal(c[0].picks, FIB_LOOK_EVERY);
	assert_false(fib_idle_fibers_visible(&still, &c[0]));
	assert_true(fib_idle_fibers_visible(&still, &c[1]));
	free(c);
	free(f);
}

/* -- on one carrier, where everything can be counted -- */

static unsigned turns[8], ordinary_left, ran_too_early;

static void *counts_while_others_run(void *arg)
{
	unsigned i;

	for (i = 0; i < 10; i++) {
		ran_too_early += ordinary_left;
		fiber_yield();
	}
	return arg;
}

static void *yields(void *arg)
{
	unsigned i;

	for (i = 0; i < 200; i++)
		fiber_yield();
	ordinary_left--;
	return arg;
}

static void *runs_idle_beside_others(void *arg)
{
	const unsigned flags = (unsigned)(uintptr_t)arg;
	struct fiber *idle, *others[5];
	unsigned i;

	ran_too_early = 0;
	ordinary_left = fib_countof(others);
	idle = spawn_idle(flags, counts_while_others_run, NULL);
	for (i = 0; i < fib_countof(others); i++)
		must(fiber_spawn(yields, NULL, &others[i]) == 0);
	for (i = 0; i < fib_countof(others); i++)
		fiber_join(others[i], NULL, FIBER_FOREVER);
	fiber_join(idle, NULL, FIBER_FOREVER);
	must(ran_too_early == 0);
	return NULL;
}

static void test_spare_runs_when_everybody_else_is_done(void **state)
{
	(void)state;
	prove(1, runs_idle_beside_others, (void *)(uintptr_t)0);
	prove(1, runs_idle_beside_others, (void *)(uintptr_t)FIBER_BOUND);
}

static bool ran_next;

static void *notes(void *arg)
{
	ran_next = true;
	return arg;
}

static void *parks_and_notes(void *arg)
{
	fiber_park(FIBER_FOREVER);
	ran_next = true;
	return arg;
}

/* Yields after each way to make a fiber runnable. */
static void *yields_once_for_each(void *arg)
{
	struct fiber_attr bound = {.size = sizeof bound, .flags = FIBER_BOUND};
	struct fiber *f;
	unsigned i;

	for (i = 0; i < 100; i++) {
		must(fiber_spawn(notes, NULL, NULL) == 0);
		fiber_yield();
		must(ran_next);
		ran_next = false;
		must(fiber_spawn_attr(&bound, notes, NULL, NULL) == 0);
		fiber_yield();
		must(ran_next);
		ran_next = false;
		must(fiber_spawn(parks_and_notes, NULL, &f) == 0);
		fiber_yield();
		must(!ran_next);
		fiber_unpark(f);
		fiber_yield();
		must(ran_next);
		ran_next = false;
		fiber_join(f, NULL, FIBER_FOREVER);
	}
	return arg;
}

static void *is_idle_and_yields(void *arg)
{
	struct fiber_result r = {0};

	fiber_join(spawn_idle((unsigned)(uintptr_t)arg, yields_once_for_each, NULL), &r,
		   FIBER_FOREVER);
	return r.value;
}

static void test_spare_lets_everybody_go_first_at_each_yield(void **state)
{
	(void)state;
	prove(1, is_idle_and_yields, (void *)(uintptr_t)0);
	prove(1, is_idle_and_yields, (void *)(uintptr_t)FIBER_BOUND);
}

static void *takes_turns(void *arg)
{
	unsigned *mine = arg, i, k;

	for (i = 0; i < 300; i++) {
		++*mine;
		for (k = 0; k < 4; k++)
			must(turns[k] + 1 >= *mine && turns[k] <= *mine + 1);
		fiber_yield();
	}
	return NULL;
}

static void *runs_four_idle_ones(void *arg)
{
	struct fiber *f[4];
	struct fiber_result r;
	unsigned i;

	memset(turns, 0, sizeof turns);
	for (i = 0; i < 4; i++)
		f[i] = spawn_idle((unsigned)(uintptr_t)arg, takes_turns, &turns[i]);
	for (i = 0; i < 4; i++) {
		fiber_join(f[i], &r, FIBER_FOREVER);
		if (r.value)
			return r.value;
	}
	return NULL;
}

static void test_spare_ones_take_turns(void **state)
{
	(void)state;
	prove(1, runs_four_idle_ones, (void *)(uintptr_t)0);
	prove(1, runs_four_idle_ones, (void *)(uintptr_t)FIBER_BOUND);
}

/* -- work from outside is served at the next yield -- */

static _Atomic unsigned yields_so_far, at_submit, at_run;
static _Atomic bool over, seen;

static void *yields_and_counts(void *arg)
{
	while (!fib_load(&over)) {
		fib_add(&yields_so_far, 1);
		fiber_yield();
	}
	return arg;
}

static void *notes_the_count(void *arg)
{
	fib_store(&at_run, fib_load(&yields_so_far));
	fib_store(&seen, true);
	return arg;
}

static void *sleeps_and_notes_the_count(void *arg)
{
	fiber_sleep(1000000);
	return notes_the_count(arg);
}

static void test_spare_that_yields_does_not_hold_up_what_comes_from_outside(void **state)
{
	struct fib_sched s;
	struct fiber *idle, *f;
	unsigned i;

	(void)state;
	carriers_start(&s, 1);
	fib_store(&over, false);
	idle = carriers_spawn_flags(&s, "idle", FIBER_IDLE, yields_and_counts, NULL);
	for (i = 0; i < 50; i++) {
		f = carriers_spawn_flags(&s, "outside", i % 2 ? FIBER_BOUND : 0, notes_the_count,
					 NULL);
		fib_store(&at_submit, fib_load(&yields_so_far));
		assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
		/*
		 * One yield may be in progress at the submission, and one may have just looked for
		 * work.
		 */
		assert_true((int)(fib_load(&at_run) - fib_load(&at_submit)) <= 2);
	}
	/* Repeat this with a deadline: the join proves that it expires. */
	f = carriers_spawn(&s, "sleeper", sleeps_and_notes_the_count, NULL);
	assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
	fib_store(&over, true);
	assert_int_equal(fiber_join(idle, NULL, FIBER_FOREVER), 0);
	carriers_stop(&s);
}

/* -- no wake-up is lost; nothing ticks here -- */

static _Atomic unsigned parks;

static void *parks_often(void *arg)
{
	unsigned i;

	for (i = 0; i < 2000; i++) {
		fib_add(&parks, 1);
		fiber_park(FIBER_FOREVER);
	}
	return arg;
}

static void test_spare_wakes_a_carrier_when_all_sleep(void **state)
{
	struct fib_sched s;
	unsigned n, flags, i;

	(void)state;
	for (n = 1; n <= 4; n *= 2)
		for (flags = 0; flags <= FIBER_BOUND; flags += FIBER_BOUND) {
			struct fiber *f;

			carriers_start(&s, n);
			for (i = 0; i < 200; i++) {
				f = carriers_spawn_flags(&s, "idle", FIBER_IDLE | flags, notes,
							 NULL);
				assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
			}
			fib_store(&parks, 0);
			f = carriers_spawn_flags(&s, "idle", FIBER_IDLE | flags, parks_often, NULL);
			for (i = 0; i < 2000; i++) {
				while (fib_load(&parks) == i)
					sched_yield();
				fiber_unpark(f);
			}
			assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
			carriers_stop(&s);
		}
}

static _Atomic unsigned here;

/* Keep the carrier until all n fibers are on one. */
static void *meets(void *arg)
{
	fib_add(&here, 1);
	while (fib_load(&here) < (unsigned)(uintptr_t)arg)
		sched_yield();
	return NULL;
}

static void test_spare_ones_spread_over_carriers_that_sleep(void **state)
{
	struct fib_sched s;
	struct fiber *f[4];
	uintptr_t n, i, round;

	(void)state;
	for (n = 2; n <= 4; n += 2)
		for (round = 0; round < 20; round++) {
			fib_store(&here, 0);
			carriers_start(&s, (unsigned)n);
			while (round % 2 && !fib_idle_all_asleep(&s))
				sched_yield();
			for (i = 0; i < n; i++)
				f[i] = carriers_spawn_flags(&s, "idle", FIBER_IDLE, meets,
							    (void *)n);
			for (i = 0; i < n; i++)
				assert_int_equal(fiber_join(f[i], NULL, FIBER_FOREVER), 0);
			carriers_stop(&s);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spare_is_taken_in_order_bound_ones_and_others_in_turn),
		cmocka_unit_test(test_spare_runs_when_everybody_else_is_done),
		cmocka_unit_test(test_spare_lets_everybody_go_first_at_each_yield),
		cmocka_unit_test(test_spare_ones_take_turns),
		cmocka_unit_test(test_spare_that_yields_does_not_hold_up_what_comes_from_outside),
		cmocka_unit_test(test_spare_wakes_a_carrier_when_all_sleep),
		cmocka_unit_test(test_spare_ones_spread_over_carriers_that_sleep),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
