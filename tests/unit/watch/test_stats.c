/* SPDX-License-Identifier: MIT */
/* test_stats.c - the statistics of the carriers are what the carriers do */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sched.h>
#include <string.h>

#include "tests/harness/one_cpu.h"
#include "tests/harness/process.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/sched/carriers.h"
#include "watch/stats.h"

#define LIMIT_S 60

#ifdef __SANITIZE_THREAD__
#define ROUNDS 1000 /* each takes a millisecond */
#else
#define ROUNDS 20000
#endif

static struct fib_sched s, other;
static struct fib_wire_runtime runtime;
static struct fib_wire_carrier rows[FIB_STATS_CARRIERS];
static _Atomic uint64_t runner; /* the id of the running fiber */
static _Atomic int enough;

static unsigned in_state(enum fib_wire_carrier_state state)
{
	unsigned i, n = 0;

	for (i = 0; i < runtime.carriers; i++)
		n += rows[i].state == (uint32_t)state;
	return n;
}

static void *runs(void *arg)
{
	fib_store(&runner, fiber_id(fiber_self()));
	while (!fib_load(&enough))
		sched_yield();
	return arg;
}

static void *nothing(void *arg)
{
	return arg;
}

/* The condition is checked repeatedly, because carriers may still be changing their state. */
static bool all_but_one_idle(void *arg)
{
	(void)arg;
	return fib_stats_next(0, 0, &runtime, rows) && in_state(FIB_WIRE_CARRIER_POLLING) == 1 &&
	       in_state(FIB_WIRE_CARRIER_IDLE) == runtime.carriers - 1;
}

static bool one_runs(void *arg)
{
	(void)arg;
	return fib_stats_next(0, 0, &runtime, rows) && in_state(FIB_WIRE_CARRIER_RUNNING) == 1;
}

static bool three_queued(void *arg)
{
	(void)arg;
	return fib_stats_next(0, 0, &runtime, rows) && rows[0].queued + runtime.queued == 3;
}

static void test_census_of_sleepers_has_one_in_the_poller(void **state)
{
	unsigned n, i;

	(void)state;
	for (n = 1; n <= 4; n++) {
		carriers_start(&s, n);
		assert_true(harness_until(all_but_one_idle, NULL, LIMIT_S));
		assert_int_equal(runtime.carriers, n);
		assert_int_equal(runtime.serial, s.serial);
		assert_int_equal(runtime.carrier_size, sizeof rows[0]);
		assert_string_equal(runtime.poller, s.poller->ops->name);
		assert_string_equal(runtime.note, "");
		for (i = 0; i < n; i++) {
			assert_int_equal(rows[i].index, i);
			assert_int_equal(rows[i].fiber, 0);
			assert_int_equal(rows[i].queued, 0);
		}
		carriers_stop(&s);
	}
}

static void test_census_shows_who_runs_and_how_many_wait_behind_it(void **state)
{
	struct fiber *f[4];
	int i;

	(void)state;
	fib_store(&enough, 0);
	fib_store(&runner, 0);
	carriers_start(&s, 1);
	f[0] = carriers_spawn(&s, "runs", runs, NULL);
	while (!fib_load(&runner))
		sched_yield();
	assert_true(harness_until(one_runs, NULL, LIMIT_S));
	assert_int_equal(rows[0].fiber, fib_load(&runner));
	for (i = 1; i < 4; i++)
		f[i] = carriers_spawn(&s, "queued", nothing, NULL);
	assert_true(harness_until(three_queued, NULL, LIMIT_S));
	fib_store(&enough, 1);
	for (i = 0; i < 4; i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
	carriers_stop(&s);
}

static void test_census_goes_through_the_runtimes_in_the_order_of_their_start(void **state)
{
	(void)state;
	assert_false(fib_stats_next(0, 0, &runtime, rows));
	carriers_start(&s, 1);
	carriers_start(&other, 2);
	assert_true(fib_stats_next(0, 0, &runtime, rows));
	assert_int_equal(runtime.serial, s.serial);
	assert_int_equal(runtime.carriers, 1);
	assert_true(fib_stats_next(runtime.serial, 0, &runtime, rows));
	assert_int_equal(runtime.serial, other.serial);
	assert_int_equal(runtime.carriers, 2);
	assert_false(fib_stats_next(runtime.serial, 0, &runtime, rows));
	carriers_stop(&s);
	assert_true(fib_stats_next(0, 0, &runtime, rows));
	assert_int_equal(runtime.serial, other.serial);
	carriers_stop(&other);
	assert_false(fib_stats_next(0, 0, &runtime, rows));
}

static void test_census_hands_the_note_on(void **state)
{
	(void)state;
	carriers_start(&s, 1);
	strcpy(s.poller_note.text, "another one cannot be used here");
	assert_true(fib_stats_next(0, 0, &runtime, rows));
	assert_string_equal(runtime.note, "another one cannot be used here");
	carriers_stop(&s);
}

static void *sleeps_long(void *arg)
{
	fiber_sleep(3600 * INT64_C(1000000000));
	return arg;
}

static bool three_sleep(void *arg)
{
	(void)arg;
	return fib_stats_next(0, 0, &runtime, rows) && rows[0].timers == 3;
}

static void test_census_counts_what_each_carrier_has_done(void **state)
{
	struct fiber *f[4];
	int64_t before;
	int i;

	(void)state;
	fib_store(&enough, 0);
	fib_store(&runner, 0);
	carriers_start(&s, 1);
	for (i = 0; i < 3; i++)
		f[i] = carriers_spawn(&s, "sleeps", sleeps_long, NULL);
	assert_true(harness_until(three_sleep, NULL, LIMIT_S));
	f[3] = carriers_spawn(&s, "runs", runs, NULL);
	while (!fib_load(&runner))
		sched_yield();
	before = fib_coarse_now();
	fib_coarse_set(before + 7000000);
	assert_true(fib_stats_next(0, 0, &runtime, rows));
	assert_int_equal(rows[0].fiber, fib_load(&runner));
	assert_in_range(rows[0].since, 7000000, INT64_MAX);
	assert_int_equal(rows[0].switches, 3);
	assert_int_equal(rows[0].timeouts, 0);
	assert_true(rows[0].cpu > 0);
	assert_int_equal(rows[0].tid, fib_load(&s.carriers[0].tid));
	assert_int_equal(runtime.spawned, 4);
	assert_int_equal(runtime.ended, 0);
	assert_true(runtime.now > 0);
	fib_store(&enough, 1);
	for (i = 0; i < 4; i++) {
		fiber_cancel(f[i]);
		fiber_join(f[i], NULL, FIBER_FOREVER);
	}
	assert_true(harness_until(all_but_one_idle, NULL, LIMIT_S));
	assert_int_equal(rows[0].timers, 0);
	assert_int_equal(rows[0].switches, 7);
	assert_int_equal(rows[0].polls, runtime.polls);
	assert_int_equal(runtime.ended, 4);
	carriers_stop(&s);
}

/*
 * The row of a carrier that sleeps has everything that the carrier did before. On one CPU a census
 * is often interrupted so that the carrier can go on.
 */
static void test_census_of_a_carrier_that_sleeps_is_whole(void **state)
{
	const cpu_set_t before = harness_one_cpu();
	uint64_t i;

	(void)state;
	carriers_start(&s, 1);
	for (i = 1; i <= ROUNDS; i++) {
		fiber_join(carriers_spawn(&s, "nothing", nothing, NULL), NULL, FIBER_FOREVER);
		while (!all_but_one_idle(NULL)) /* without a pause: as it falls asleep */
			;
		assert_int_equal(rows[0].switches, i);
		assert_int_equal(rows[0].polls, runtime.polls);
	}
	carriers_stop(&s);
	sched_setaffinity(0, sizeof before, &before);
}

static _Atomic int64_t burnt; /* CPU time of the thread that runs the fiber */

static void *burns(void *arg)
{
	while (!fib_load(&enough))
		fib_store(&burnt, fib_os_thread_cpu());
	return arg;
}

/* The thread's CPU time is so much larger than ours that the two cannot be confused. */
static bool more_than_we(void *arg)
{
	(void)arg;
	return fib_load(&burnt) > fib_os_thread_cpu() + 5000000;
}

static bool as_much_as_was_said(void *arg)
{
	(void)arg;
	return fib_load(&burnt) >= rows[0].cpu;
}

static void test_census_cpu_time_is_that_of_the_carriers_own_thread(void **state)
{
	struct fiber *f;
	int64_t before;

	(void)state;
	fib_store(&enough, 0);
	carriers_start(&s, 1);
	f = carriers_spawn(&s, "burns", burns, NULL);
	assert_true(harness_until(more_than_we, NULL, LIMIT_S));
	before = fib_load(&burnt);
	assert_true(fib_stats_next(0, 0, &runtime, rows));
	assert_true(rows[0].cpu >= before);
	assert_true(harness_until(as_much_as_was_said, NULL, LIMIT_S));
	fib_store(&enough, 1);
	fiber_join(f, NULL, FIBER_FOREVER);
	carriers_stop(&s);
}

static void test_census_of_carriers_that_have_not_begun_knows_no_cpu_time(void **state)
{
	uint32_t tid;

	(void)state;
	carriers_start(&s, 1);
	assert_true(harness_until(all_but_one_idle, NULL, LIMIT_S));
	tid = fib_swap(&s.carriers[0].tid, 0);
	assert_true(fib_stats_next(0, 0, &runtime, rows));
	assert_int_equal(rows[0].cpu, -1);
	fib_store(&s.carriers[0].tid, tid);
	carriers_stop(&s);
}

static void test_census_of_many_carriers_comes_in_pieces(void **state)
{
	unsigned first, i;

	(void)state;
	carriers_start(&s, FIB_STATS_CARRIERS + 3);
	for (first = 0; first < s.carrier_count; first += runtime.carriers) {
		assert_true(fib_stats_next(0, first, &runtime, rows));
		assert_int_equal(runtime.all, s.carrier_count);
		assert_int_equal(runtime.first, first);
		assert_int_equal(runtime.carriers, first ? 3 : FIB_STATS_CARRIERS);
		for (i = 0; i < runtime.carriers; i++)
			assert_int_equal(rows[i].index, first + i);
	}
	assert_true(fib_stats_next(0, s.carrier_count, &runtime, rows));
	assert_int_equal(runtime.carriers, 0);
	carriers_stop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_census_of_sleepers_has_one_in_the_poller),
		cmocka_unit_test(test_census_shows_who_runs_and_how_many_wait_behind_it),
		cmocka_unit_test(test_census_goes_through_the_runtimes_in_the_order_of_their_start),
		cmocka_unit_test(test_census_hands_the_note_on),
		cmocka_unit_test(test_census_counts_what_each_carrier_has_done),
		cmocka_unit_test(test_census_of_a_carrier_that_sleeps_is_whole),
		cmocka_unit_test(test_census_cpu_time_is_that_of_the_carriers_own_thread),
		cmocka_unit_test(test_census_of_carriers_that_have_not_begun_knows_no_cpu_time),
		cmocka_unit_test(test_census_of_many_carriers_comes_in_pieces),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
