/* SPDX-License-Identifier: MIT */
/* mixed.h - run a function in fibers and in plain threads at once */
#ifndef UNIT_POSIX_MIXED_H
#define UNIT_POSIX_MIXED_H

#include "tests/unit/io/inside.h"

#include <time.h>

#define FIBERS	8
#define THREADS 4

/* Run fn(arg) in FIBERS fibers and THREADS threads, and wait for all. */
static inline void mixed_run(fiber_fn *fn, void *arg)
{
	struct fiber *fibers[FIBERS];
	pthread_t threads[THREADS];

	for (int i = 0; i < FIBERS; i++)
		fibers[i] = inside_spawn(fn, arg);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, fn, arg), 0);
	for (int i = 0; i < FIBERS; i++)
		inside_join(fibers[i]);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* A point in time, ms from now. */
static inline struct timespec mixed_in(clockid_t clock, long ms)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += ms % 1000 * 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return t;
}

#endif
