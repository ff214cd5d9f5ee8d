/* SPDX-License-Identifier: MIT */
/* cancel.h - ask a fiber to end; see cancel.c */
#ifndef FIB_WAIT_CANCEL_H
#define FIB_WAIT_CANCEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "core/record.h"
#include "order.h"
#include "wait/wake.h"

/*
 * Returns whether the fiber is cancelled and does not mask it: no wait may start. By the fiber
 * itself.
 */
static inline bool fib_cancel_due(struct fiber *fiber)
{
	/* Acquire: what the canceller did before is visible. */
	const uint8_t cancelled = fib_load_acquire(&fiber->cancelled);

	return fib_unlikely(cancelled) &&
	       (cancelled & (FIB_CANCELLED | FIB_CANCEL_MASKED)) == FIB_CANCELLED;
}

/* End all masks, when the fiber exits: its exit handlers wait unmasked. By the fiber itself. */
void fib_cancel_unmask_all(struct fiber *fiber);

/* Before the carriers of a scheduler start: find out which side executes the fences (cancel.c). */
void fib_cancel_prepare(void);
extern _Atomic uint32_t fib_cancel_fenced_by_waiters;

/* Set flags of a cancelled fiber, and publish that to readers outside. */
static inline void fib_cancel_mark(struct fiber *fiber, uint8_t flags)
{
	/* Release: what the caller did before is visible to a fiber that sees the flag. */
	fib_or(&fiber->cancelled, flags);
	fib_order_release(&fiber->cancelled);
	fib_store(&fiber->asked, FIB_CANCELLED);
}

/*
 * fiber_cancel() without the wake-up: set the flag and claim the wait. True: the caller must wake
 * *ret. It may do so after it releases a lock that keeps the fiber from exiting.
 */
bool fib_cancel_claim(struct fiber *fiber, struct fib_wake *ret);

#endif
