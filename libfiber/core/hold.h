/* SPDX-License-Identifier: MIT */
/* hold.h - keep one record from being given to another fiber */
#ifndef FIB_CORE_HOLD_H
#define FIB_CORE_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "core/record.h"

/* A: the record that is held, and marks in the lowest bits (hold.c). Alone in its cache line: every
 * exit reads it, and it is almost always 0. */
struct fib_held {
	_Atomic uintptr_t word;
} fib_aligned(FIB_CACHE_LINE);
extern struct fib_held fib_hold;

/* The holder cannot make exits execute a fence: they do it themselves from now on. Called before
 * there are fibers; any thread. */
void fib_hold_fence_ends(void);

/*
 * Hold record index if the fiber with this id, which is not 0, lives in it. Until
 * fib_hold_release() the record belongs to this fiber and to no other, even when it exits. Returns
 * NULL if the fiber is not there or has exited. Only for the service thread, one record at a time;
 * between the two calls it must be short and must not wait.
 */
struct fiber *fib_hold_take(uint64_t index, uint64_t id);
void fib_hold_release(struct fiber *fiber);

/* In a forked child: no record is held. */
void fib_hold_forget(void);

/* The record has no id any more and may be given away. Returns true if it is held: then the holder
 * gives it to the registry. Called by the exit of its fiber. */
bool fib_hold_passed_on(struct fiber *fiber);
static inline bool fib_hold_keeps(struct fiber *fiber)
{
	/* pairs: hold.gap -- the id was cleared before this read: the holder does the rest. */
	fib_fence_compiler();
	return fib_unlikely(fib_load(&fib_hold.word) != 0) && fib_hold_passed_on(fiber);
}

#endif
