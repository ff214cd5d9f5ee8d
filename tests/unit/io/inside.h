/* SPDX-License-Identifier: MIT */
/* inside.h - run a part of a test inside a fiber; its findings are checked outside */
#ifndef UNIT_IO_INSIDE_H
#define UNIT_IO_INSIDE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fiber.h>

#include "tests/harness/fibers.h"
#include "tests/harness/watchdog.h"

#define MS INT64_C(1000000)

static struct fiber_runtime *rt; /* two carriers, for the whole program */

static inline int inside_start(void **state)
{
	/* No watchdog: it opens a file of /proc to look at a carrier, and some tests count
	 * descriptors. */
	const struct fiber_runtime_options options = {
		.size = sizeof options, .carriers = 2, .control_path = "", .long_run_ns = -1};

	(void)state;
	return fiber_runtime_start(&options, &rt);
}

static inline int inside_stop(void **state)
{
	(void)state;
	return fiber_runtime_finish(rt, FIBER_FOREVER);
}

static inline struct fiber *inside_spawn(fiber_fn *fn, void *arg)
{
	struct fiber *fiber = NULL;

	assert_int_equal(fiber_runtime_spawn(rt, NULL, fn, arg, &fiber), 0);
	return fiber;
}

/* Spawn a fiber and wait until it is suspended. */
static inline struct fiber *inside_suspended(fiber_fn *fn, void *arg)
{
	struct fiber *const fiber = inside_spawn(fn, arg);

	harness_await_suspended(fiber);
	return fiber;
}

static inline intptr_t inside_join(struct fiber *fiber)
{
	struct fiber_result result = {NULL, 1};

	assert_int_equal(fiber_join(fiber, &result, FIBER_FOREVER), 0);
	assert_int_equal(result.error, 0);
	return (intptr_t)result.value;
}

/* Join a cancelled fiber, which must have ended as cancelled, and return its result. */
static inline intptr_t inside_join_cancelled(struct fiber *fiber)
{
	struct fiber_result result = {NULL, 1};

	assert_int_equal(fiber_join(fiber, &result, FIBER_FOREVER), 0);
	assert_int_equal(result.error, -ECANCELED);
	return (intptr_t)result.value;
}

/* Run fn in the calling fiber: pinned, or cancelled. */
static inline void *as_pinned(fiber_fn *fn, void *arg)
{
	void *value;

	fiber_pin();
	value = fn(arg);
	fiber_unpin();
	return value;
}

static inline void *as_cancelled(fiber_fn *fn, void *arg)
{
	fiber_cancel(fiber_self());
	return fn(arg);
}

static inline intptr_t inside(fiber_fn *fn, void *arg)
{
	return inside_join(inside_spawn(fn, arg));
}

static inline intptr_t on_a_thread(fiber_fn *fn, void *arg)
{
	pthread_t thread;
	void *value;

	assert_int_equal(pthread_create(&thread, NULL, fn, arg), 0);
	assert_int_equal(pthread_join(thread, &value), 0);
	return (intptr_t)value;
}

#endif
