/* SPDX-License-Identifier: MIT */
/* hundred.h - a hundred fibers that use a library at once, and the number of their wrong answers */
#ifndef TESTS_POSIX_HUNDRED_H
#define TESTS_POSIX_HUNDRED_H

#include "tests/system/carriers.h"

#include <stdatomic.h>

#define FIBERS 100

/*
 * With a sanitizer the values of keys are the carrier's, because their names are not taken. OpenSSL may park
 * while it makes the thread's generator of random numbers. Then another fiber makes one too, and the
 * first one is lost. The report needs all frames to tell.
 */
const char *__asan_default_options(void);
const char *__lsan_default_suppressions(void);

const char *__asan_default_options(void)
{
	return "fast_unwind_on_malloc=0";
}

const char *__lsan_default_suppressions(void)
{
	return "leak:RAND_get0_public\nleak:RAND_get0_private\n";
}

static atomic_uint failures;

/* In any fiber: count what does not hold. */
static inline void must(bool holds)
{
	if (!holds)
		failures++;
}

/* Each gets its number, from 0. */
static inline void spawn_all(fiber_fn *fn, struct fiber *f[FIBERS])
{
	for (intptr_t i = 0; i < FIBERS; i++)
		if (fiber_spawn(fn, (void *)i, &f[i]) < 0)
			abort();
}

static inline void join_all(struct fiber *f[FIBERS])
{
	for (int i = 0; i < FIBERS; i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
}

/* Run first as the first fiber, with arg, and assert that all that must hold did. */
static inline void carriers_run_well(fiber_fn *first, void *arg)
{
	failures = 0;
	carriers_run(first, arg);
	assert_int_equal(failures, 0);
}

static inline void *spawn_and_join_all(void *fn)
{
	struct fiber *f[FIBERS];

	spawn_all(*(fiber_fn **)fn, f);
	join_all(f);
	return NULL;
}

/* Run a hundred of fn, and assert that all that must hold did. */
static inline void hundred_run_well(fiber_fn *fn)
{
	carriers_run_well(spawn_and_join_all, &fn);
}

#endif
