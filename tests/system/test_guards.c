/* SPDX-License-Identifier: MIT */
/*
 * test_guards.c - the guards of suspended fibers become mappings of their own, also while every carrier
 * sleeps
 *
 * gdb's gcore saves a process mapping by mapping, and stops in a mapping at a page that it cannot read.
 */
#include "carriers.h"
#include "tests/harness/fibers.h"
#include "tests/harness/process.h"

#include <stdio.h>

#define FEW 40u

static _Atomic unsigned parked;

static void *parks(void *arg)
{
	parked++;
	fiber_park(FIBER_FOREVER);
	return arg;
}

/* Mappings without any access: guards that were split, and a few others. */
static unsigned closed_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	unsigned n = 0;

	assert_non_null(maps);
	while (fgets(line, sizeof line, maps))
		n += strstr(line, " ---p ") != NULL;
	fclose(maps);
	return n;
}

static bool are_split(void *arg)
{
	return closed_mappings() >= *(unsigned *)arg;
}

static bool are_parked(void *arg)
{
	return parked >= *(unsigned *)arg;
}

/* Spawn FEW more from this thread, and wait until all `count` sleep with a guard of their own. */
static void spawn_few(struct fiber_runtime *rt, struct fiber **fibers, unsigned count,
		      unsigned others)
{
	unsigned split = others + count;

	for (unsigned i = 0; i < FEW; i++)
		assert_int_equal(fiber_runtime_spawn(rt, NULL, parks, NULL, &fibers[i]), 0);
	assert_true(harness_until(are_parked, &count, 60));
	/* Neither the fibers nor this thread do anything that would wake the service thread. */
	assert_true(harness_until(are_split, &split, 60));
}

static void test_guards_are_split_while_all_carriers_sleep(void **state)
{
	const struct fiber_runtime_options options = carriers_options();
	const unsigned others = closed_mappings();
	struct fiber *fibers[2 * FEW];
	struct fiber_runtime *rt;

	(void)state;
	assert_int_equal(fiber_runtime_start(&options, &rt), 0);
	spawn_few(rt, fibers, FEW, others);
	/* The runtime has rested meanwhile. */
	spawn_few(rt, fibers + FEW, 2 * FEW, others);
	for (unsigned i = 0; i < 2 * FEW; i++) {
		fiber_unpark(fibers[i]);
		assert_int_equal(fiber_join(fibers[i], NULL, FIBER_FOREVER), 0);
	}
	assert_int_equal(fiber_runtime_finish(rt, FIBER_FOREVER), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_guards_are_split_while_all_carriers_sleep),
	};

	harness_watchdog(150);
	return cmocka_run_group_tests_name("guards", tests, NULL, NULL);
}
