/* SPDX-License-Identifier: MIT */
/*
 * test_race_deadline.c - a deadline is kept although the carrier that holds its timer is busy
 *
 * The carrier on which a fiber went to sleep computes for long, or is blocked by a pinned fiber
 * that waits for the sleeper. The sleeper must be woken if another carrier is free.
 */
#include "carriers.h"

#define PATIENCE (20000 * MS)

static struct fiber_mutex mutex;
static _Atomic bool asleep, awake;

static void *sleep_holding(void *arg)
{
	fiber_mutex_lock(&mutex, FIBER_FOREVER);
	asleep = true;
	fiber_sleep(10 * MS);
	awake = true;
	fiber_mutex_unlock(&mutex);
	return arg;
}

/* Usually returns on the carrier that holds the sleeper's timer. */
static struct fiber *sleeper(void)
{
	struct fiber *fiber;

	asleep = awake = false;
	fiber_spawn(sleep_holding, NULL, &fiber);
	while (!asleep)
		fiber_yield();
	return fiber;
}

static void *compute_until_it_wakes(void *late)
{
	size_t i;

	for (i = 0; i < 20; i++) {
		struct fiber *const fiber = sleeper();
		const int64_t limit = fiber_after(PATIENCE);

		while (!awake && fiber_now() < limit)
			;
		*(size_t *)late += !awake;
		fiber_join(fiber, NULL, FIBER_FOREVER);
	}
	return NULL;
}

static void test_deadline_comes_while_its_carrier_computes(void **state)
{
	size_t late = 0;

	(void)state;
	if (carriers() == 1)
		skip(); /* there is no other carrier */
	carriers_run(compute_until_it_wakes, &late);
	assert_int_equal(late, 0);
}

static void *block_until_it_unlocks(void *late)
{
	size_t i;

	for (i = 0; i < 20; i++) {
		struct fiber *const fiber = sleeper();

		fiber_pin();
		if (fiber_mutex_lock(&mutex, fiber_after(PATIENCE)) < 0)
			++*(size_t *)late;
		else
			fiber_mutex_unlock(&mutex);
		fiber_unpin();
		fiber_join(fiber, NULL, FIBER_FOREVER);
	}
	return NULL;
}

static void test_deadline_comes_while_its_carrier_blocks_for_a_pinned_fiber(void **state)
{
	struct fiber_runtime_options options = carriers_options();
	size_t late = 0;

	(void)state;
	if (carriers() == 1)
		skip();
	options.pinned_policy = FIBER_PINNED_SILENT;
	assert_int_equal(fiber_run(block_until_it_unlocks, &late, &options, NULL), 0);
	assert_int_equal(late, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deadline_comes_while_its_carrier_computes),
		cmocka_unit_test(test_deadline_comes_while_its_carrier_blocks_for_a_pinned_fiber),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests_name("race: deadline", tests, NULL, NULL);
}
