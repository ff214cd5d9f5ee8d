/* SPDX-License-Identifier: MIT */
/*
 * test_crowd.c - how many carriers may be awake
 *
 * The test gives the times and the CPU time that was used before, so nothing depends on the machine.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "os/os.h"
#include "sched/sched.h"
#include "tests/harness/watchdog.h"
#include "watch/crowd.h"

#define CARRIERS 16u
#define CPUS	 2u
#define MS	 INT64_C(1000000)

static struct fib_carrier carriers[CARRIERS];
static struct fib_sched s;
static int64_t now;

static int setup(void **state)
{
	(void)state;
	now = fib_os_now();
	s = (struct fib_sched){
		.carriers = carriers, .carrier_count = CARRIERS, .regular = CARRIERS};
	fib_crowd_init(&s);
	s.crowd.cpus = CPUS;
	fib_store(&s.idle.most, CPUS);
	memset(carriers, 0, sizeof carriers);
	return 0;
}

/* A tick of 1 ms in which the process used so much of one CPU. */
static unsigned tick(bool behind, unsigned percent)
{
	s.crowd.looked_at = now;
	s.crowd.process_cpu = fib_os_process_cpu() - MS * percent / 100;
	now += MS;
	fib_crowd_look(&s, now, behind);
	return fib_load(&s.idle.most);
}

static void test_crowd_is_no_larger_than_the_carriers(void **state)
{
	(void)state;
	s.carrier_count = s.regular = 1;
	fib_crowd_init(&s);
	assert_int_equal(fib_load(&s.idle.most), 1);
	fib_crowd_look(&s, now + MS, true);
	assert_int_equal(fib_load(&s.idle.most), 1);
}

static void test_crowd_that_uses_the_cpus_stays_as_large_as_they_are(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < 100; i++)
		assert_int_equal(tick(true, 200), CPUS);
}

static void test_crowd_grows_while_work_waits_and_cpus_are_unused(void **state)
{
	unsigned before = CPUS, most, ticks = 0;

	(void)state;
	assert_int_equal(tick(false, 0), CPUS);
	/* Twice is not enough. */
	assert_int_equal(tick(true, 0), CPUS);
	assert_int_equal(tick(true, 0), CPUS);
	assert_int_equal(tick(true, 200), CPUS);
	assert_int_equal(tick(true, 0), CPUS);
	assert_int_equal(tick(true, 0), CPUS);
	for (; before < CARRIERS; before = most) {
		most = tick(true, 0);
		assert_true(most > before && most <= CARRIERS);
		ticks++;
	}
	assert_true(ticks <= 10);
	assert_int_equal(tick(true, 0), CARRIERS);
}

static void test_crowd_shrinks_by_one_a_tick_when_nothing_waits_or_the_cpus_are_used(void **state)
{
	unsigned most;

	(void)state;
	fib_store(&s.idle.most, CARRIERS);
	for (most = CARRIERS; most > CPUS; most--)
		assert_int_equal(tick(most % 2, 200 * (most % 2)), most - 1);
	assert_int_equal(tick(false, 0), CPUS);
}

static void test_crowd_does_not_count_carriers_that_a_fiber_keeps(void **state)
{
	unsigned i;

	(void)state;
	carriers[0].hold.fiber = carriers[3].hold.fiber = 7;
	carriers[0].hold.first = carriers[3].hold.first = now;
	for (i = 0; i < 9; i++)
		assert_int_equal(tick(true, 200), CPUS);
	assert_int_equal(tick(true, 200), CPUS + 2);
	carriers[0].hold.fiber = 0;
	assert_int_equal(tick(true, 200), CPUS + 1);
}

static void test_crowd_does_not_trust_an_old_reading_of_the_cpu_time(void **state)
{
	(void)state;
	s.crowd.looked_at = now - 1000 * MS;
	s.crowd.process_cpu = fib_os_process_cpu();
	fib_crowd_look(&s, now, true);
	assert_int_equal(fib_load(&s.idle.most), CPUS);
	fib_crowd_look(&s, now + MS, true);
	fib_crowd_look(&s, now + 2 * MS, true);
	assert_int_equal(fib_load(&s.idle.most), CPUS);
	fib_crowd_look(&s, now + 3 * MS, true);
	assert_true(fib_load(&s.idle.most) > CPUS);
}

static void test_crowd_does_not_grow_before_it_is_complete(void **state)
{
	(void)state;
	fib_store(&s.idle.word, (CARRIERS - CPUS + 1) << 16);
	tick(true, 0);
	tick(true, 0);
	assert_int_equal(tick(true, 0), CPUS);
	fib_store(&s.idle.word, (CARRIERS - CPUS) << 16);
	tick(true, 0);
	tick(true, 0);
	assert_true(tick(true, 0) > CPUS);
}

static void keep(unsigned carrier)
{
	carriers[carrier].hold.fiber = 7;
	carriers[carrier].hold.first = now - 10 * MS;
}

static void test_crowd_has_a_substitute_for_each_carrier_that_is_kept(void **state)
{
	unsigned i;

	(void)state;
	s.regular = CPUS;
	for (i = 0; i < 9; i++)
		assert_int_equal(tick(true, 0), CPUS);
	for (i = 0; i < CARRIERS - CPUS; i++) {
		keep(i);
		assert_int_equal(tick(true, 0), CPUS + i + 1);
	}
	keep(i);
	assert_int_equal(tick(true, 0), CARRIERS);
	for (i = 0; i < CARRIERS; i++)
		carriers[i].hold.fiber = 0;
	assert_int_equal(tick(true, 0), CPUS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_crowd_is_no_larger_than_the_carriers, setup),
		cmocka_unit_test_setup(test_crowd_that_uses_the_cpus_stays_as_large_as_they_are,
				       setup),
		cmocka_unit_test_setup(test_crowd_grows_while_work_waits_and_cpus_are_unused,
				       setup),
		cmocka_unit_test_setup(
			test_crowd_shrinks_by_one_a_tick_when_nothing_waits_or_the_cpus_are_used,
			setup),
		cmocka_unit_test_setup(test_crowd_does_not_count_carriers_that_a_fiber_keeps,
				       setup),
		cmocka_unit_test_setup(test_crowd_has_a_substitute_for_each_carrier_that_is_kept,
				       setup),
		cmocka_unit_test_setup(test_crowd_does_not_grow_before_it_is_complete, setup),
		cmocka_unit_test_setup(test_crowd_does_not_trust_an_old_reading_of_the_cpu_time,
				       setup),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
