/* SPDX-License-Identifier: MIT */
/*
 * carriers.h - start the runtime with the runner's number of carriers, and helpers of all system
 * tests
 *
 * The runner starts each program once for each number of carriers, given in FIBER_TEST_CARRIERS. No
 * assert is inside a fiber: a fiber records, and the test checks the record on its own stack.
 */
#ifndef SYSTEM_CARRIERS_H
#define SYSTEM_CARRIERS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fiber.h>

#include "tests/harness/paths.h"
#include "tests/harness/watchdog.h"

#define MS	 INT64_C(1000000)
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static inline unsigned carriers(void)
{
	const char *const text = getenv("FIBER_TEST_CARRIERS");
	char *end;
	unsigned long n;

	if (!text)
		return 2;
	n = strtoul(text, &end, 10);
	if (!*text || *end || n < 1 || n > 256) {
		fprintf(stderr, "# FIBER_TEST_CARRIERS=%s is no number from 1 to 256\n", text);
		abort();
	}
	return (unsigned)n;
}

/* Options without a control socket, which most tests do not need. */
static inline struct fiber_runtime_options carriers_options(void)
{
	return (struct fiber_runtime_options){.size = sizeof(struct fiber_runtime_options),
					      .carriers = carriers(),
					      .control_path = ""};
}

/* Run fn as the first fiber and return how it exited; fails the test if it does not start. */
static inline struct fiber_result carriers_run(fiber_fn *fn, void *arg)
{
	const struct fiber_runtime_options options = carriers_options();
	struct fiber_result result = {NULL, 1};

	assert_int_equal(fiber_run(fn, arg, &options, &result), 0);
	return result;
}

static inline struct fiber_runtime *carriers_start(void)
{
	const struct fiber_runtime_options options = carriers_options();
	struct fiber_runtime *rt = NULL;

	assert_int_equal(fiber_runtime_start(&options, &rt), 0);
	return rt;
}

static inline void carriers_finish(struct fiber_runtime *rt)
{
	assert_int_equal(fiber_runtime_finish(rt, FIBER_FOREVER), 0);
}

/* Let other fibers or threads run. Any fiber or thread may call it. */
static inline void carriers_pause(void)
{
	if (fiber_yield() < 0)
		sched_yield();
}

/*
 * Block the caller, a fiber or a thread, until the fiber waits. With one carrier the fiber has also
 * left its stack.
 */
static inline void carriers_await_suspended(const struct fiber *fiber)
{
	while (fiber_state(fiber) != FIBER_SUSPENDED)
		carriers_pause();
}

/*
 * n, reduced in a sanitizer build to take about the same time; gcc's TSan holds at most 8,128
 * fibers.
 */
static inline size_t carriers_scale(size_t n)
{
	const char *const san = harness_sanitizer();

	/* On a machine of 32 bits the address space ends before 10,000 stacks of the usual size. */
	if (sizeof(void *) < sizeof(uint64_t) && n > 5000)
		n = 5000;
	if (!strcmp(san, "thread"))
		return n > 2000 ? n / 50 > 2000 ? 2000 : n / 50 < 1000 ? 1000 : n / 50 : n;
	return *san && n > 2000 ? n / 5 : n;
}

#endif
