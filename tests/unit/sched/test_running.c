/* SPDX-License-Identifier: MIT */
/* test_running.c - which fibers run on another carrier, as seen by a fiber */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fiber.h>

#include "sched/running.h"
#include "sched/sched.h"
#include "tests/harness/watchdog.h"

struct scene {
	unsigned carriers;
	_Atomic uint64_t runner; /* id of the fiber that runs until it may leave */
	_Atomic bool may_leave;
	bool runner_runs, oneself, nothing;
};

static void *run(void *arg)
{
	struct scene *s = arg;

	s->runner = fiber_id(fiber_self());
	while (!s->may_leave)
		;
	return NULL;
}

static void *sleep_long(void *arg)
{
	fiber_park(FIBER_FOREVER);
	return arg;
}

static bool runs(uint64_t id)
{
	return fib_running_beside(fib_carrier_self(), id);
}

static void *look(void *arg)
{
	struct scene *s = arg;
	struct fiber *runner = NULL, *sleeper;

	fiber_spawn(sleep_long, NULL, &sleeper);
	fiber_yield();
	/* It may run on another carrier until it is suspended: the watchdog ends a test in which it always does. */
	while (runs(fiber_id(sleeper)))
		;
	s->oneself = runs(fiber_id(fiber_self()));
	s->nothing = runs(UINT64_MAX);
	if (s->carriers > 1) {
		fiber_spawn(run, s, &runner);
		while (!s->runner)
			;
		s->runner_runs = runs(s->runner);
		s->may_leave = true;
		fiber_join(runner, NULL, FIBER_FOREVER);
		while (runs(s->runner))
			;
	}
	fiber_unpark(sleeper);
	fiber_join(sleeper, NULL, FIBER_FOREVER);
	return NULL;
}

static struct scene seen_with(unsigned carriers)
{
	struct scene s = {.carriers = carriers};
	struct fiber_runtime_options options = {.size = sizeof options, .carriers = carriers};

	assert_int_equal(fiber_run(look, &s, &options, NULL), 0);
	return s;
}

static void test_running_beside_is_true_while_a_fiber_computes_on_another_carrier(void **state)
{
	const struct scene s = seen_with(2);

	(void)state;
	assert_true(s.runner_runs);
}

static void test_running_beside_is_false_for_a_suspended_fiber_oneself_and_an_unknown_id(
	void **state)
{
	static const unsigned carriers[] = {1, 2, 4};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const struct scene s = seen_with(carriers[i]);

		assert_false(s.oneself);
		assert_false(s.nothing);
	}
}

static void test_running_beside_is_false_where_there_are_too_many_carriers_to_look_at(void **state)
{
	(void)state;
	assert_false(seen_with(65).runner_runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_running_beside_is_true_while_a_fiber_computes_on_another_carrier),
		cmocka_unit_test(
			test_running_beside_is_false_for_a_suspended_fiber_oneself_and_an_unknown_id),
		cmocka_unit_test(
			test_running_beside_is_false_where_there_are_too_many_carriers_to_look_at),
	};

	harness_watchdog(60);
	return cmocka_run_group_tests_name("running", tests, NULL, NULL);
}
