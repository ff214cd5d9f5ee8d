/* SPDX-License-Identifier: MIT */
/* gc_fiber.h - the memory in which one fiber keeps pointers */
#ifndef FIB_RUNTIME_GC_FIBER_H
#define FIB_RUNTIME_GC_FIBER_H

#include <stdbool.h>
#include <stdint.h>

#include <fiber/gc.h>

#include "core/record.h"

/* An enumeration. */
struct fib_gc_walk {
	fiber_gc_range_fn *fn;
	void *arg;
	bool stopped; /* the caller has stopped the carriers */
	uint64_t at;  /* stopped: the caller's stack pointer, above which its registers are saved */
};

/* Report a range, if it is not empty. Returns what the program's function returned. */
int fib_gc_report(const struct fib_gc_walk *walk, struct fiber_gc_range *range);

/*
 * Report the ranges of the fiber that has this record, if there is one. Returns what the program's
 * function returned last.
 */
int fib_gc_fiber(const struct fib_gc_walk *walk, struct fiber *fiber);

#endif
