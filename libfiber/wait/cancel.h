/* SPDX-License-Identifier: MIT */
/* cancel.h - a fiber that is asked to end. See cancel.c. */
#ifndef FIB_WAIT_CANCEL_H
#define FIB_WAIT_CANCEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "core/record.h"
#include "wait/wake.h"

/* Whether the fiber is cancelled and does not mask that: no wait may begin. By the fiber itself. */
static inline bool fib_cancel_due(struct fiber *fiber)
{
	/* Acquire: what whoever cancelled it did before is visible. */
	const uint8_t cancelled = fib_load_acquire(&fiber->cancelled);

	return fib_unlikely(cancelled) &&
	       (cancelled & (FIB_CANCELLED | FIB_CANCEL_MASKED)) == FIB_CANCELLED;
}

/* The fiber ends: what it masked is over, and its exit handlers wait unmasked. By the fiber itself. */
void fib_cancel_unmask_all(struct fiber *fiber);

/* Before the carriers of a scheduler start: find out who fences (cancel.c). */
void fib_cancel_prepare(void);
extern _Atomic uint32_t fib_cancel_fenced_by_waiters;

/* Raise the flags of a fiber that is cancelled, and tell readers outside. */
static inline void fib_cancel_mark(struct fiber *fiber, uint8_t flags)
{
	/* Release: what we did before is visible to a fiber that sees the flag. */
	fib_or(&fiber->cancelled, flags);
	fib_store(&fiber->asked, FIB_CANCELLED);
}

/* fiber_cancel() but for the waking: raise the flag and claim the wait. True: *ret must be woken, which may be
 * after a lock that keeps the fiber from ending is let go. */
bool fib_cancel_claim(struct fiber *fiber, struct fib_wake *ret);

#endif
