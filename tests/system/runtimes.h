/* SPDX-License-Identifier: MIT */
/* runtimes.h - several runtimes of different kinds; the first has the runner's carrier count */
#ifndef SYSTEM_RUNTIMES_H
#define SYSTEM_RUNTIMES_H

#include "carriers.h"

#define MOST 5

static const struct fiber_runtime_options kinds[MOST] = {
	{.name = "first", .pinned_policy = FIBER_PINNED_SILENT},
	{.name = "second",
	 .carriers = 1,
	 .stack_size = 64 << 10,
	 .pinned_policy = FIBER_PINNED_ERROR},
	{.name = "third", .carriers = 3, .stack_size = 1 << 20, .pinned_policy = FIBER_PINNED_WARN},
	{.name = "fourth", .carriers = 2, .pinned_policy = FIBER_PINNED_ERROR},
	{.name = "fifth",
	 .carriers = 1,
	 .stack_size = 128 << 10,
	 .pinned_policy = FIBER_PINNED_SILENT},
};

static inline struct fiber_runtime *start_kind(unsigned i)
{
	struct fiber_runtime_options o = kinds[i];
	struct fiber_runtime *rt = NULL;

	o.size = sizeof(o);
	o.control_path = "";
	if (!o.carriers)
		o.carriers = carriers();
	assert_int_equal(fiber_runtime_start(&o, &rt), 0);
	return rt;
}

static inline void start_kinds(struct fiber_runtime *rts[], unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		rts[i] = start_kind(i);
}

static inline struct fiber *spawn_in(struct fiber_runtime *rt, fiber_fn *fn, void *arg)
{
	struct fiber *fiber = NULL;

	assert_int_equal(fiber_runtime_spawn(rt, NULL, fn, arg, &fiber), 0);
	return fiber;
}

static inline intptr_t join(struct fiber *fiber)
{
	struct fiber_result r = {NULL, 1};

	assert_int_equal(fiber_join(fiber, &r, FIBER_FOREVER), 0);
	assert_int_equal(r.error, 0);
	return (intptr_t)r.value;
}

static inline void *sleep_for_ever(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)fiber_sleep_until(FIBER_FOREVER);
}

#endif
