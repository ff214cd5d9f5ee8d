/* SPDX-License-Identifier: MIT */
/* hold.h - keeping one record from being given to another fiber. */
#ifndef FIB_CORE_HOLD_H
#define FIB_CORE_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "core/record.h"

/* A: the record that is held, and marks in the lowest bits (hold.c). In a cache line with nothing else: every end reads
 * it, and 0 it is almost always. */
struct fib_held {
	_Atomic uintptr_t word;
} fib_aligned(FIB_CACHE_LINE);
extern struct fib_held fib_hold;

/* Ends cannot be made to fence by whoever holds: they fence themselves from now on. Before there are fibers; any
 * thread. */
void fib_hold_fence_ends(void);

/*
 * Hold record index, as long as the fiber with that id, which is not 0, lives in it: until fib_hold_release() the record
 * belongs to this fiber and to no other, even when it ends. NULL when the fiber is not there, or not any more. By the
 * service thread only, one record at a time; what it does meanwhile is short and does not wait.
 */
struct fiber *fib_hold_take(uint64_t index, uint64_t id);
void fib_hold_release(struct fiber *fiber);

/* In a forked child: nobody holds anything. */
void fib_hold_forget(void);

/* The record has no id any more and may be given away: true when it is held, and then whoever holds it gives it to
 * the registry. By whoever ended it. */
bool fib_hold_passed_on(struct fiber *fiber);
static inline bool fib_hold_keeps(struct fiber *fiber)
{
	/* pairs: hold.gap -- the id has gone before this is read: whoever holds sees to the rest. */
	fib_fence_compiler();
	return fib_unlikely(fib_load(&fib_hold.word) != 0) && fib_hold_passed_on(fiber);
}

#endif
