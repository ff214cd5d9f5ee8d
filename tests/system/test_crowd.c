/* SPDX-License-Identifier: MIT */
/*
 * test_crowd.c - more carriers than CPUs, and substitutes: each is there when the others are kept
 *
 * The carriers are woken one after another as those that are awake turn out to be kept
 * (watch/crowd.c). A carrier that stays asleep hangs the test.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sched.h>
#include <unistd.h>

#include <fiber.h>

#include "tests/harness/watchdog.h"

#define CARRIERS 12u

static struct fiber_runtime *rt;
static _Atomic unsigned arrived;
static int ends[2];

static int start(unsigned carriers)
{
	const struct fiber_runtime_options options = {.size = sizeof options,
						      .carriers = carriers,
						      .carriers_max = CARRIERS,
						      .control_path = ""};

	arrived = 0;
	return fiber_runtime_start(&options, &rt);
}

static int setup(void **state)
{
	(void)state;
	return start(CARRIERS);
}

static int setup_substitutes(void **state)
{
	(void)state;
	return start(1);
}

static int teardown(void **state)
{
	(void)state;
	return fiber_runtime_finish(rt, FIBER_FOREVER);
}

static void spawn(fiber_fn *fn, struct fiber **ret)
{
	assert_int_equal(fiber_runtime_spawn(rt, NULL, fn, NULL, ret), 0);
}

static void join(struct fiber *const f[CARRIERS])
{
	struct fiber_result result;
	unsigned i;

	for (i = 0; i < CARRIERS; i++) {
		assert_int_equal(fiber_join(f[i], &result, FIBER_FOREVER), 0);
		assert_null(result.value);
	}
}

static void *computes_until_all_are_there(void *arg)
{
	arrived++;
	while (arrived < CARRIERS)
		;
	return arg;
}

static void test_crowd_of_computing_fibers_runs_on_every_carrier(void **state)
{
	struct fiber *f[CARRIERS];
	unsigned i;

	(void)state;
	for (i = 0; i < CARRIERS; i++)
		spawn(computes_until_all_are_there, &f[i]);
	join(f);
}

static void *blocks_in_a_read(void *arg)
{
	char byte;

	arrived++;
	return read(ends[0], &byte, 1) == 1 ? arg : "the read failed";
}

static void test_crowd_of_blocked_fibers_leaves_no_carrier_asleep(void **state)
{
	struct fiber *f[CARRIERS];
	unsigned i;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	for (i = 0; i < CARRIERS; i++)
		spawn(blocks_in_a_read, &f[i]);
	while (arrived < CARRIERS)
		sched_yield();
	for (i = 0; i < CARRIERS; i++)
		assert_int_equal(write(ends[1], "x", 1), 1);
	join(f);
	close(ends[0]);
	close(ends[1]);
}

static void *reads_and_sleeps(void *arg)
{
	char byte;

	if (fiber_read(ends[0], &byte, 1, FIBER_FOREVER) != 1 || fiber_sleep(1000000) != 0)
		return "a wait failed";
	arrived++;
	return arg;
}

static void test_crowd_of_computing_fibers_does_not_hold_up_descriptors_and_deadlines(void **state)
{
	struct fiber *f[CARRIERS];
	unsigned i;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	spawn(reads_and_sleeps, &f[0]);
	for (i = 1; i < CARRIERS; i++)
		spawn(computes_until_all_are_there, &f[i]);
	while (arrived < CARRIERS - 1)
		sched_yield();
	assert_int_equal(write(ends[1], "x", 1), 1);
	join(f);
	close(ends[0]);
	close(ends[1]);
}

static _Atomic bool let_go;

static void *keeps_its_carrier(void *arg)
{
	arrived++;
	while (!let_go)
		;
	return arg;
}

static void *arrives(void *arg)
{
	arrived++;
	return arg;
}

static void test_substitutes_do_not_run_fibers_that_are_bound_to_a_carrier(void **state)
{
	const struct fiber_attr bound = {.size = sizeof bound, .flags = FIBER_BOUND};
	struct fiber *f[3];
	struct fiber_result result;

	(void)state;
	let_go = false;
	assert_int_equal(fiber_runtime_spawn(rt, &bound, keeps_its_carrier, NULL, &f[0]), 0);
	while (arrived < 1)
		sched_yield();
	assert_int_equal(fiber_runtime_spawn(rt, &bound, arrives, NULL, &f[1]), 0);
	spawn(arrives, &f[2]);
	assert_int_equal(fiber_join(f[2], &result, FIBER_FOREVER), 0);
	assert_int_equal(arrived, 2);
	let_go = true;
	assert_int_equal(fiber_join(f[0], &result, FIBER_FOREVER), 0);
	assert_int_equal(fiber_join(f[1], &result, FIBER_FOREVER), 0);
	assert_int_equal(arrived, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_crowd_of_computing_fibers_runs_on_every_carrier, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_crowd_of_blocked_fibers_leaves_no_carrier_asleep, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_crowd_of_computing_fibers_does_not_hold_up_descriptors_and_deadlines,
			setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_crowd_of_computing_fibers_runs_on_every_carrier, setup_substitutes,
			teardown),
		cmocka_unit_test_setup_teardown(
			test_crowd_of_blocked_fibers_leaves_no_carrier_asleep, setup_substitutes,
			teardown),
		cmocka_unit_test_setup_teardown(
			test_crowd_of_computing_fibers_does_not_hold_up_descriptors_and_deadlines,
			setup_substitutes, teardown),
		cmocka_unit_test_setup_teardown(
			test_substitutes_do_not_run_fibers_that_are_bound_to_a_carrier,
			setup_substitutes, teardown),
	};

	harness_watchdog(100);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
