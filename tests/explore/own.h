/* SPDX-License-Identifier: MIT */
/*
 * own.h - explore a test of one of libfiber's own primitives
 *
 * The numbers of schedules are fixed, so that each run of the tests is the same. FIBER_TEST_SCHEDULES,
 * FIBER_TEST_SEED and the other variables go before them: `make explore`.
 */
#ifndef TESTS_EXPLORE_OWN_H
#define TESTS_EXPLORE_OWN_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <fiber.h>
#include <fiber/test.h>

#define OWN_SCHEDULES 1000u
#define OWN_MS	      INT64_C(1000000)
#define OWN_COUNT(a)  (sizeof(a) / sizeof *(a))

/* Explore fn(arg). What follows are fields of struct fiber_test_options. */
#define EXPLORE(fn, arg, ...)                                                                 \
	own_explore(fn, arg, (struct fiber_test_options){.name = #fn, __VA_ARGS__}, __FILE__, \
		    __LINE__)
/* The same, and every schedule must be run. */
#define EXPLORE_ALL(fn, arg, ...)                                                                \
	own_explore_all(                                                                         \
		fn, arg,                                                                         \
		(struct fiber_test_options){.name = #fn, .strategy = "exhaustive", __VA_ARGS__}, \
		__FILE__, __LINE__)
/* Without faults; then with one at each place in turn; then with up to two at random places. */
#define EXPLORE_FAULTS(fn, arg, kinds, ...)                                         \
	do {                                                                        \
		EXPLORE(fn, arg, .faults = 0, __VA_ARGS__);                         \
		own_each_fault(fn, arg, kinds, #fn, __FILE__, __LINE__);            \
		EXPLORE(fn, arg, .faults = (kinds), .fault_limit = 2, __VA_ARGS__); \
	} while (0)

static inline void own_explore(fiber_test_fn *fn, void *arg, struct fiber_test_options options,
			       const char *file, int line)
{
	options.size = sizeof options;
	if (!options.schedules)
		options.schedules = OWN_SCHEDULES;
	fiber_test_at(fn, arg, &options, file, line);
}

/* At every place of the simplest order. */
static inline void own_each_fault(fiber_test_fn *fn, void *arg, unsigned kinds, const char *name,
				  const char *file, int line)
{
	const struct fiber_test_options options = {
		.strategy = "each-fault", .faults = kinds, .name = name};

	own_explore(fn, arg, options, file, line);
}

static inline void own_explore_all(fiber_test_fn *fn, void *arg, struct fiber_test_options options,
				   const char *file, int line)
{
	struct fiber_test_result result = {.size = sizeof result};

	options.size = sizeof options;
	if (fiber_test_explore(fn, arg, &options, &result) != 0)
		fiber_test_at(fn, arg, &options, file, line); /* the same again, with a report */
	/* Another strategy, fewer schedules or a limit of time may be given from outside. */
	if (!getenv("FIBER_TEST_SCHEDULES") && !getenv("FIBER_TEST_STRATEGY") &&
	    !getenv("FIBER_TEST_TIME") && !getenv("FIBER_TEST_REPLAY"))
		assert_string_equal(fiber_test_verdict_name(result.verdict), "complete");
}

/* Spawn a fiber for each of n elements of size bytes. */
static inline void own_spawn(struct fiber *fibers[], unsigned n, fiber_fn *fn, void *elements,
			     size_t size)
{
	for (unsigned i = 0; i < n; i++)
		fiber_test_assert(fiber_spawn(fn, (char *)elements + i * size, &fibers[i]) == 0);
}

static inline void own_join(struct fiber *fibers[], unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		fiber_test_assert(fiber_join(fibers[i], NULL, FIBER_FOREVER) == 0);
}

/* Cancel one of them, or none. */
static inline void own_cancel_one(struct fiber *fibers[], unsigned n)
{
	const unsigned which = fiber_test_choose(n + 1, "who is cancelled");

	if (which)
		fiber_cancel(fibers[which - 1]);
}

/* A deadline that ends a wait at once, soon or never. */
static inline int64_t own_deadline(void)
{
	switch (fiber_test_choose(3, "deadline")) {
	case 0:
		return FIBER_FOREVER;
	case 1:
		return fiber_after(OWN_MS);
	default:
		return 0;
	}
}

/* A wait that was given up. */
static inline bool own_given_up(int64_t result)
{
	return result == -ETIMEDOUT || result == -ECANCELED;
}

#endif
