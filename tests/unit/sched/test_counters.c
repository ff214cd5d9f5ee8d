/* SPDX-License-Identifier: MIT */
/*
 * test_counters.c - a carrier's counters say what the carrier has done
 *
 * A fiber's record also counts how often the fiber was left: by the sequence number that changes at
 * every switch. The carriers' counters are compared with these. Only the test moves the clock.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sched.h>

#include "carriers.h"
#include "tests/harness/process.h"
#include "tests/harness/watchdog.h"

#define MS     INT64_C(1000000)
#define FIBERS 300
#define YIELDS 100

static struct fib_sched s;
static _Atomic uint64_t left; /* switches of the fibers that have exited */
static _Atomic uint64_t elsewhere;
static struct fib_counts m;

/* Called by a fiber that is about to exit. */
static void note_end(void)
{
	fib_add(&left, (fib_load(&fiber_self()->seq) + 1) / 2);
}

/* The counts of all carriers together. */
static void read_all(void)
{
	struct fib_counts one;
	unsigned i, k;

	m = (struct fib_counts){0};
	for (i = 0; i < s.carrier_count; i++) {
		fib_counters_read(&s.carriers[i], &one);
		m.switches += one.switches;
		m.steals += one.steals;
		m.wakeups += one.wakeups;
		m.polls += one.polls;
		m.timeouts += one.timeouts;
		m.delayed += one.delayed;
		for (k = 0; k < FIB_COUNTERS_DELAYS; k++)
			m.delays[k] += one.delays[k];
	}
}

static uint64_t all_delays(void)
{
	uint64_t n = 0;
	unsigned k;

	for (k = 0; k < FIB_COUNTERS_DELAYS; k++)
		n += m.delays[k];
	return n;
}

/* The last fiber that exited may still be leaving its carrier. */
static bool says_as_many(void *arg)
{
	(void)arg;
	read_all();
	return m.switches == fib_load(&left);
}

static void *yields(void *arg)
{
	uintptr_t i;

	for (i = 0; i < (uintptr_t)arg; i++)
		fiber_yield();
	note_end();
	return NULL;
}

/*
 * Leave the carrier in every way: with other fibers runnable and alone, at once and from its own
 * stack, and by exiting.
 */
static void *mixes(void *arg)
{
	static char memory[4][FIB_STACK_MIN] __attribute__((aligned(64)));
	struct fiber *f[FIBERS + 12];
	unsigned n = 0, i;

	(void)arg;
	for (i = 0; i < YIELDS; i++)
		fiber_yield();
	for (i = 0; i < FIBERS; i++)
		fiber_spawn(yields, (void *)(uintptr_t)(i % YIELDS), &f[n++]);
	for (i = 0; i < 12; i++) {
		struct fiber_attr attr = {.size = sizeof attr};

		attr.flags = i < 4 ? FIBER_IDLE : i < 8 ? FIBER_BOUND : 0;
		if (i >= 8) {
			attr.stack = memory[i - 8];
			attr.stack_size = sizeof memory[0];
		}
		fiber_spawn_attr(&attr, yields, (void *)(uintptr_t)(i * 3), &f[n++]);
	}
	fiber_sleep(2 * MS);
	for (i = 0; i < n; i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
	note_end();
	return NULL;
}

static void test_meter_counts_every_switch_once(void **state)
{
	unsigned n, i;

	(void)state;
	for (n = 1; n <= 4; n *= 2) {
		fib_store(&left, 0);
		carriers_start(&s, n);
		for (i = 0; i < 3; i++) {
			fiber_join(carriers_spawn(&s, "mixes", mixes, NULL), NULL, FIBER_FOREVER);
			assert_true(harness_until(says_as_many, NULL, LIMIT_S));
			assert_int_equal(all_delays(), m.switches);
		}
		assert_true(m.switches > 3 * FIBERS);
		carriers_stop(&s);
	}
}

static void test_meter_counts_no_yield_of_one_who_is_alone_as_a_switch(void **state)
{
	(void)state;
	fib_store(&left, 0);
	carriers_start(&s, 1);
	fiber_join(carriers_spawn(&s, "alone", yields, (void *)100000), NULL, FIBER_FOREVER);
	assert_true(harness_until(says_as_many, NULL, LIMIT_S));
	/* Most yields do not switch; now and then the fiber goes through the idle context. */
	assert_in_range(m.switches, 1, 10000);
	carriers_stop(&s);
}

static _Atomic int enough;

static void *yields_on(void *arg)
{
	while (!fib_load(&enough))
		fiber_yield();
	return arg;
}

static void test_meter_never_goes_back_while_the_carrier_goes_on(void **state)
{
	struct fib_counts before = {0};
	struct fiber *f[3];
	unsigned i, k;

	(void)state;
	fib_store(&enough, 0);
	carriers_start(&s, 1);
	for (i = 0; i < 3; i++)
		f[i] = carriers_spawn_flags(&s, "on", i == 2 ? FIBER_IDLE : 0, yields_on, NULL);
	for (i = 0; i < 200000; i++) {
		if (i % 64 == 0)
			fib_coarse_set(fib_os_now());
		read_all();
		assert_true(m.switches >= before.switches && m.delayed >= before.delayed);
		for (k = 0; k < FIB_COUNTERS_DELAYS; k++)
			assert_true(m.delays[k] >= before.delays[k]);
		assert_true(all_delays() >= m.switches);
		before = m;
	}
	assert_true(m.switches > 0);
	fib_store(&enough, 1);
	for (i = 0; i < 3; i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
	carriers_stop(&s);
}

static void *does_nothing(void *arg)
{
	return arg;
}

/* The fiber queued behind this one waits for 50 ms by the clock. */
static void *holds_for_50_ms(void *arg)
{
	struct fiber *f;

	fiber_spawn(does_nothing, NULL, &f);
	fib_coarse_set(fib_coarse_now() + 50 * MS);
	fiber_join(f, NULL, FIBER_FOREVER);
	return arg;
}

static void test_meter_puts_a_delay_where_it_belongs(void **state)
{
	uint64_t delayed;

	(void)state;
	carriers_start(&s, 1);
	fib_coarse_set(fib_os_now() + 1000 * MS); /* from here on no carrier moves the clock */
	fiber_join(carriers_spawn(&s, "first", does_nothing, NULL), NULL, FIBER_FOREVER);
	read_all();
	delayed = m.delayed;
	assert_int_equal(m.delays[6], 0);
	fiber_join(carriers_spawn(&s, "holds", holds_for_50_ms, NULL), NULL, FIBER_FOREVER);
	read_all();
	assert_int_equal(m.delays[6], 1); /* 32 ms < 50 ms <= 64 ms */
	assert_int_equal(m.delayed - delayed, 50 * MS);
	carriers_stop(&s);
}

static void *made_long_ago(void *arg)
{
	struct fiber *f;

	fiber_create(NULL, does_nothing, NULL, &f);
	fib_coarse_set(fib_coarse_now() + 50 * MS);
	fib_submit(&s, f);
	fiber_join(f, NULL, FIBER_FOREVER);
	return arg;
}

static void test_meter_does_not_count_the_time_before_a_fiber_is_submitted(void **state)
{
	(void)state;
	carriers_start(&s, 1);
	fib_coarse_set(fib_os_now() + 5000 * MS);
	fiber_join(carriers_spawn(&s, "makes", made_long_ago, NULL), NULL, FIBER_FOREVER);
	read_all();
	assert_int_equal(m.delays[6], 0);
	carriers_stop(&s);
}

static void test_meter_steps_are_powers_of_two(void **state)
{
	static const struct {
		int64_t ns;
		unsigned step;
	} cases[] = {
		{MS + 1, 1},	     {2 * MS, 1},	   {2 * MS + 1, 2},
		{4 * MS, 2},	     {4 * MS + 1, 3},	   {1024 * MS, 10},
		{1024 * MS + 1, 11}, {(1 << 14) * MS, 14}, {(1 << 14) * MS + 1, 15},
		{INT64_MAX / 2, 15},
	};
	struct fib_counters meter = {0};
	uint64_t sum = 0;
	unsigned i;

	(void)state;
	for (i = 0; i < fib_countof(cases); i++) {
		uint64_t before = fib_load(&meter.delays[cases[i].step]);

		fib_counters_delay(&meter, cases[i].ns);
		assert_int_equal(fib_load(&meter.delays[cases[i].step]), before + 1);
		assert_int_equal(fib_load(&meter.delayed), sum += (uint64_t)cases[i].ns);
	}
	/* A delay of at most one tick is only added to the sum. */
	fib_counters_delay(&meter, 1);
	fib_counters_delay(&meter, MS);
	assert_int_equal(fib_load(&meter.delayed), sum + MS + 1);
	assert_int_equal(fib_load(&meter.delays[0]), 0);
}

static void test_meter_of_those_that_were_prompt_takes_nothing_back(void **state)
{
	static struct fib_carrier c;
	struct fib_counts one;

	(void)state;
	fib_counters_give(&c);
	fib_counters_delay(&c.counters, 3 * MS);
	fib_counters_read(&c, &one);
	assert_int_equal(one.switches, 0);
	assert_int_equal(one.delays[0], 0);
	c.picks -= 10;
	fib_counters_read(&c, &one);
	assert_int_equal(one.switches, 10);
	assert_int_equal(one.delays[0], 9);
	/* The fiber that runs now was delayed. */
	fib_counters_delay(&c.counters, 3 * MS);
	fib_counters_read(&c, &one);
	assert_int_equal(one.delays[0], 9);
	assert_int_equal(one.delays[2], 2);
	c.picks--;
	fib_counters_give(&c);
	fib_counters_last(&c);
	fib_counters_read(&c, &one);
	assert_int_equal(one.switches, 11);
	assert_int_equal(one.delays[0], 9);
	c.picks--;
	fib_counters_read(&c, &one);
	assert_int_equal(one.switches, 12);
}

static void *runs_elsewhere(void *arg)
{
	if (fib_carrier_self() != arg)
		fib_add(&elsewhere, 1);
	return NULL;
}

/* Block the carrier until another one has taken the fibers that were spawned. */
static void *waits_for_a_thief(void *arg)
{
	int i;

	for (i = 0; i < 8; i++)
		fiber_spawn(runs_elsewhere, fib_carrier_self(), NULL);
	while (!fib_load(&elsewhere))
		sched_yield();
	return arg;
}

static void test_meter_counts_steals_where_there_are_thieves(void **state)
{
	(void)state;
	fib_store(&elsewhere, 0);
	carriers_start(&s, 2);
	fiber_join(carriers_spawn(&s, "victim", waits_for_a_thief, NULL), NULL, FIBER_FOREVER);
	read_all();
	assert_true(m.steals > 0);
	carriers_stop(&s);
}

/* A sleep whose time is over before it has begun is no wait: a busy machine may take the CPU for a millisecond there. */
static void *sleeps(void *arg)
{
	uintptr_t i;

	for (i = 0; i < (uintptr_t)arg; i++)
		fiber_sleep(50 * MS);
	return NULL;
}

/* One more fiber wakes the carrier if it already sleeps. */
static bool got_up(void *arg)
{
	(void)arg;
	fiber_join(carriers_spawn(&s, "more", does_nothing, NULL), NULL, FIBER_FOREVER);
	read_all();
	return m.wakeups > 0;
}

static void test_meter_counts_timeouts_polls_and_wakeups(void **state)
{
	(void)state;
	carriers_start(&s, 1);
	fiber_join(carriers_spawn(&s, "sleeps", sleeps, (void *)7), NULL, FIBER_FOREVER);
	read_all();
	assert_int_equal(m.timeouts, 7);
	assert_true(harness_until(got_up, NULL, LIMIT_S));
	assert_int_equal(m.timeouts, 7);
	assert_int_equal(m.steals, 0);
	assert_true(m.polls > 0);
	carriers_stop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_meter_counts_every_switch_once),
		cmocka_unit_test(test_meter_counts_no_yield_of_one_who_is_alone_as_a_switch),
		cmocka_unit_test(test_meter_never_goes_back_while_the_carrier_goes_on),
		cmocka_unit_test(test_meter_puts_a_delay_where_it_belongs),
		cmocka_unit_test(test_meter_does_not_count_the_time_before_a_fiber_is_submitted),
		cmocka_unit_test(test_meter_steps_are_powers_of_two),
		cmocka_unit_test(test_meter_of_those_that_were_prompt_takes_nothing_back),
		cmocka_unit_test(test_meter_counts_steals_where_there_are_thieves),
		cmocka_unit_test(test_meter_counts_timeouts_polls_and_wakeups),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
