/* SPDX-License-Identifier: MIT */
/*
 * group.c - run each test of a group of cmocka in one schedule of libfiber-test
 *
 * The linker puts these functions in place of those that the test program calls (--wrap), so the
 * program is not compiled again. Each test is a whole program to the explorer: its schedule runs in
 * a process of its own, with the fixtures of the group around it.
 *
 * A test's thread that waits for fibers in a loop of sched_yield() runs them, because libfiber-test
 * has no carrier threads.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <fiber.h>
#include <fiber/test.h>

#include "explore/explorer.h"
#include "explore/whole.h"
#include "sched/gather.h"
#include "sched/loop.h"
#include "sched/ready.h"

#define MOST 64

int __real__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t n,
				   CMFixtureFunction setup, CMFixtureFunction teardown);
int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t n,
				   CMFixtureFunction setup, CMFixtureFunction teardown);
int __real_sched_yield(void);
int __wrap_sched_yield(void);

/* Names of tests, NULL-terminated; scripts/single.mk writes the file. */
extern const char *const single_left_out[];

static struct {
	const char *name;
	CMFixtureFunction setup, teardown;
} group;

/* A runtime without fibers: a test that needs none is one that called libfiber, too. */
static void use(void)
{
	const struct fiber_runtime_options o = {
		.size = sizeof o, .carriers = 1, .control_path = ""};
	struct fiber_runtime *rt;

	if (fiber_runtime_start(&o, &rt) < 0 || fiber_runtime_finish(rt, FIBER_FOREVER) < 0)
		fiber_test_fail("no runtime");
}

static void run(void *arg)
{
	use();
	/* Its plan is none of the program. */
	unsetenv("CMOCKA_MESSAGE_OUTPUT");
	cmocka_set_message_output(CM_OUTPUT_STDOUT);
	if (__real__cmocka_run_group_tests(group.name, arg, 1, group.setup, group.teardown))
		exit(1);
}

static void explore(void **state)
{
	const struct CMUnitTest *test = *state;
	const struct fiber_test_options options = {
		.size = sizeof options,
		.name = test->name,
		.strategy = "random",
		.schedules = 1,
		.steps = 1000000,
		.flags = FIBER_TEST_ISOLATE,
	};

	fib_whole_set();
	fiber_test(run, (void *)(uintptr_t)test, &options);
}

static bool is_left_out(const char *name)
{
	unsigned i;

	for (i = 0; single_left_out[i]; i++)
		if (strcmp(name, single_left_out[i]) == 0)
			return true;
	return false;
}

int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t n,
				   CMFixtureFunction setup, CMFixtureFunction teardown)
{
	struct CMUnitTest explored[MOST] = {{0}};
	size_t i, count = 0;

	group.name = name;
	group.setup = setup;
	group.teardown = teardown;
	for (i = 0; i < n; i++) {
		if (is_left_out(tests[i].name))
			continue;
		if (count == MOST)
			abort();
		explored[count++] = (struct CMUnitTest){
			.name = tests[i].name,
			.test_func = explore,
			.initial_state = (void *)(uintptr_t)&tests[i],
		};
	}
	return __real__cmocka_run_group_tests(name, explored, count, NULL, NULL);
}

/* Let one fiber run. If none can, time goes on, as it does in production. */
int __wrap_sched_yield(void)
{
	const struct timespec step = {0, 1000};

	if (!fib_explorer_on())
		return __real_sched_yield();
	fib_gather();
	if (fiber_self() || !fib_ready_count())
		return nanosleep(&step, NULL);
	fib_loop_turn();
	return 0;
}
