/* SPDX-License-Identifier: MIT */
/* queue.h - a runtime to wait in, and the number of waiters in a queue, for tests of their order */
#ifndef UNIT_SYNC_QUEUE_H
#define UNIT_SYNC_QUEUE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include <fiber.h>

#include "tests/harness/watchdog.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

#define MS INT64_C(1000000)

static struct fiber_runtime *rt; /* two carriers, for the whole program */

static inline int queue_start(void **state)
{
	const struct fiber_runtime_options options = {
		.size = sizeof options, .carriers = 2, .control_path = ""};

	(void)state;
	return fiber_runtime_start(&options, &rt);
}

static inline int queue_stop(void **state)
{
	(void)state;
	return fiber_runtime_finish(rt, FIBER_FOREVER);
}

static inline uint32_t queue_length(struct fiber_wait_queue *q)
{
	uint32_t length;

	fib_queue_lock(q);
	length = fib_queue_length(q);
	fib_queue_unlock(q);
	return length;
}

static inline void queue_await(struct fiber_wait_queue *q, uint32_t length)
{
	while (queue_length(q) != length)
		if (fiber_yield() < 0)
			sched_yield();
}

/* Spawn from the test's thread. */
static inline struct fiber *queue_spawn(fiber_fn *fn, void *arg)
{
	struct fiber *fiber = NULL;

	assert_int_equal(fiber_runtime_spawn(rt, NULL, fn, arg, &fiber), 0);
	return fiber;
}

static inline int queue_join(struct fiber *fiber)
{
	struct fiber_result result = {NULL, 1};

	assert_int_equal(fiber_join(fiber, &result, FIBER_FOREVER), 0);
	assert_int_equal(result.error, 0);
	return (int)(intptr_t)result.value;
}

#endif
