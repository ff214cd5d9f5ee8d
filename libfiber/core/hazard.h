/* SPDX-License-Identifier: MIT */
/* hazard.h - keep one record from being given to another fiber */
#ifndef FIB_CORE_HAZARD_H
#define FIB_CORE_HAZARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "core/record.h"

/* A: the record that is held, and marks in the lowest bits (hazard.c). Alone in its cache line: every
 * exit reads it, and it is almost always 0. */
struct fib_hazard {
	_Atomic uintptr_t word;
} fib_aligned(FIB_CACHE_LINE);
extern struct fib_hazard fib_hazard;

/* The holder cannot make exits execute a fence: they do it themselves from now on. Called before
 * there are fibers; any thread. */
void fib_hazard_fence_ends(void);

/*
 * Hold record index if the fiber with this id, which is not 0, lives in it. Until
 * fib_hazard_release() the record belongs to this fiber and to no other, even when it exits. Returns
 * NULL if the fiber is not there or has exited. Only for the service thread, one record at a time;
 * between the two calls it must be short and must not wait.
 */
struct fiber *fib_hazard_take(uint64_t index, uint64_t id);
void fib_hazard_release(struct fiber *fiber);

/* In a forked child: no record is held. */
void fib_hazard_forget(void);

/* The record has no id any more and may be given away. Returns true if it is held: then the holder
 * gives it to the registry. Called by the exit of its fiber. */
bool fib_hazard_passed_on(struct fiber *fiber);
static inline bool fib_hazard_keeps(struct fiber *fiber)
{
	/* pairs: hazard.gap -- the id was cleared before this read: the holder does the rest. */
	fib_fence_compiler();
	return fib_unlikely(fib_load(&fib_hazard.word) != 0) && fib_hazard_passed_on(fiber);
}

#endif
