/* SPDX-License-Identifier: MIT */
/*
 * carriers.h - run a scheduler alone, without the runtime and its service thread
 *
 * Only the test ticks: a lost wake-up stays lost, where the service thread's fib_tick() would
 * repair it.
 */
#ifndef UNIT_SCHED_CARRIERS_H
#define UNIT_SCHED_CARRIERS_H

#include <stdlib.h>

#include <fiber/time.h>

#include "core/registry.h"
#include "life/live_count.h"
#include "life/spawn.h"
#include "os/os.h"
#include "runtime/runtime.h"
#include "sched/sched.h"

#define LIMIT_S 60 /* limit for anything that must happen soon */

/* In a fiber that prove() runs: if the condition does not hold, exit with its text. */
#define must(condition)                                         \
	do {                                                    \
		if (!(condition))                               \
			return (void *)(uintptr_t)(#condition); \
	} while (0)

/*
 * Run fn(arg) as the first fiber of n carriers. fn returns NULL, or the text of the broken
 * condition.
 */
#define prove(n, fn, arg)                                                           \
	do {                                                                        \
		const char *broken_ = carriers_run(n, fn, arg);                     \
		_assert_true(!broken_, broken_ ? broken_ : "", __FILE__, __LINE__); \
	} while (0)

static inline void carriers_ignore(const struct fib_poll_event *events, int n)
{
	(void)events;
	(void)n;
}

/* As on a machine with a CPU for each carrier. */
static inline void carriers_start(struct fib_sched *s, unsigned n)
{
	const struct fiber_runtime_options o = {.carriers = n,
						.carriers_max = n,
						.stack_size = FIB_STACK_DEFAULT,
						.pinned_policy = FIBER_PINNED_SILENT};

	if (fib_registry_init() < 0 || fib_sched_start(s, &o, carriers_ignore) < 0)
		abort();
	s->crowd.cpus = n;
	fib_store(&s->idle.most, n);
}

/* Make carriers wait in hook instead of in the poller. */
static inline void carriers_serve(struct fib_sched *s, fib_idle_hook *hook, void *arg)
{
	if (fib_idle_lend(s) < 0)
		abort();
	fib_idle_serve(s, hook, arg);
}

/* Wait until every fiber has ended, then stop. */
static inline void carriers_stop(struct fib_sched *s)
{
	while (!fib_close(s))
		fib_live_await(s, false, INT64_MAX);
	fib_sched_stop(s);
}

static inline struct fiber *carriers_spawn_flags(struct fib_sched *s, const char *name,
						 unsigned flags, fiber_fn *fn, void *arg)
{
	struct fiber_attr attr = {.size = sizeof attr, .name = name, .flags = flags};
	struct fiber *fiber;

	if (fib_make(&attr, s, fn, arg, NULL, &fiber) < 0 || fib_submit(s, fiber) < 0)
		abort();
	return fiber;
}

static inline struct fiber *carriers_spawn(struct fib_sched *s, const char *name, fiber_fn *fn,
					   void *arg)
{
	return carriers_spawn_flags(s, name, 0, fn, arg);
}

/* Run fn(arg) as a fiber on n new carriers, and return its result. */
static inline void *carriers_run(unsigned n, fiber_fn *fn, void *arg)
{
	struct fib_sched s;
	struct fiber_result result = {0};

	carriers_start(&s, n);
	if (fiber_join(carriers_spawn(&s, "first", fn, arg), &result, FIBER_FOREVER) < 0)
		abort();
	carriers_stop(&s);
	return result.value;
}

/* Records with an id: fibers that exist in this process. */
static inline unsigned carriers_fibers(void)
{
	uint64_t i, committed = fib_registry_committed();
	unsigned n = 0;

	for (i = 0; i < committed; i++)
		if (fib_observe(&fib_registry_at(i)->id))
			n++;
	return n;
}

#endif
