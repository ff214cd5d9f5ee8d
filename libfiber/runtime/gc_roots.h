/* SPDX-License-Identifier: MIT */
/* gc_roots.h - the memory in which fibers and libfiber keep pointers of the program */
#ifndef FIB_RUNTIME_GC_ROOTS_H
#define FIB_RUNTIME_GC_ROOTS_H

#include <fiber/gc.h>

/*
 * Report everything while the caller has stopped the carriers, and holds the locks of channels, calls
 * of fiber_block() and operations. Returns what fn returned last.
 */
int fib_gc_roots_stopped(fiber_gc_range_fn *fn, void *arg);

/* Report what can be found while fibers run. Takes those locks. */
int fib_gc_roots_running(fiber_gc_range_fn *fn, void *arg);

#endif
