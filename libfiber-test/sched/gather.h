/* SPDX-License-Identifier: MIT */
/*
 * gather.h - collect the fibers that became runnable
 *
 * There are no carrier threads: a carrier exists only as the data of its runtime. All runtimes of a
 * process are served together.
 */
#ifndef FIB_TEST_SCHED_GATHER_H
#define FIB_TEST_SCHED_GATHER_H

#include <stdbool.h>
#include <stdint.h>

struct fib_carrier;

/* Call starts for each carrier that exists and that starts, ends before one ends; NULL: no more. */
void fib_gather_watch(void (*starts)(struct fib_carrier *c), void (*ends)(struct fib_carrier *c));

/* Call fn for each carrier. */
void fib_gather_each(void (*fn)(struct fib_carrier *c));

/* Add to the runnable fibers: spawned ones, due timers, ready descriptors, pinned ones. */
void fib_gather(void);

/* The nearest deadline of all, ns; INT64_MAX: none. */
int64_t fib_gather_nearest(void);

/* Whether this process ever started a runtime. */
bool fib_gather_used(void);

/* Wait in real time for a descriptor (os/virtual.h says how long). False: none became ready. */
bool fib_gather_wait(void);

#endif
