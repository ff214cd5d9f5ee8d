/* SPDX-License-Identifier: MIT */
/*
 * lot.h - wait for and wake by an address, for libfiber-posix
 *
 * Not in the installed headers. The functions are exported because libfiber-posix is a library of
 * its own.
 */
#ifndef FIB_LAYOUT_LOT_H
#define FIB_LAYOUT_LOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fiber/api.h>

#include "layout/layout.h"

/* A wait for a change of what is at an address. Nothing there is read or written. */
struct fiber_lot_wait {
	const void *address;
	enum fib_wait_kind kind;
	bool cancellable;
	/*
	 * Called when the caller is about to be in the queue, with the queue locked: whether it must
	 * wait. It must not wait or wake. NULL: it must.
	 */
	bool (*still)(void *arg);
	/* Called once the caller is in the queue, before it waits: it may wake. NULL: nothing. */
	void (*queued)(void *arg);
	void *arg;
	/* Set if fiber_lot_hand() has ended the wait, which returns 0. NULL: it is not to end so. */
	bool *handed;
};

/*
 * Wait until fiber_lot_wake(), by a fiber or a thread. deadline: ns. Returns 0; -EAGAIN: still() said
 * no; -ETIMEDOUT; -ECANCELED if it is cancellable; -EDEADLK by the policy for pinned fibers.
 */
FIBER_API int fiber_lot_wait(const struct fiber_lot_wait *wait, int64_t deadline);

/*
 * Wake up to `most` of those that wait for the address, the first ones first. Returns how many; in a
 * signal handler perhaps 0, and others are woken too. Any thread; also in a signal handler.
 */
FIBER_API size_t fiber_lot_wake(const void *address, size_t most);

/*
 * Wake the first one that waits for the address, and hand it what the caller has. Returns whether there
 * was one that takes it; in a signal handler perhaps false. Any thread; also in a signal handler.
 */
FIBER_API bool fiber_lot_hand(const void *address);

/*
 * A: fibers and threads that wait, or are about to. A caller that makes a change with a full barrier
 * and then reads 0 need not call fiber_lot_wake().
 */
FIBER_API extern _Atomic uint64_t fiber_lot_waiters;

#endif
