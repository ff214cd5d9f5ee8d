/* SPDX-License-Identifier: MIT */
/* mutex.h - what a condition variable needs of a mutex beyond the public calls */
#ifndef FIB_SYNC_MUTEX_H
#define FIB_SYNC_MUTEX_H

#include <fiber/sync.h>

#include "base/atomic.h"
#include "life/held.h"
#include "order.h"

/*
 * The slow path of fiber_mutex_unlock(): the caller is a thread, the mutex has waiters, or the
 * caller does not own it. A calling fiber has already called fib_held_release().
 */
int fib_mutex_unlock_slow(struct fiber_mutex *mutex);

/* Unlock on behalf of me, the calling fiber. me is NULL if the caller is a plain thread. */
static inline int fib_mutex_unlock(struct fiber_mutex *mutex, struct fiber *me)
{
	uint64_t owner;

	fib_order_unlock(mutex, true);
	if (fib_likely(me != NULL)) {
		fib_held_release(me);
		owner = me->id;
		/*
		 * After the swap another caller may lock, unlock and free it: do not touch it
		 * again.
		 */
		if (fib_likely(fib_cas(&mutex->owner, &owner, 0)))
			return 0;
	}
	return fib_mutex_unlock_slow(mutex);
}

/*
 * Lock without a deadline and without regard to cancellation or the pinned-blocking policy, for a
 * caller that promised to hold the mutex when it returns. me: the calling fiber, NULL for a thread.
 * at: the return address of the public call, for fib_held_mutex().
 */
void fib_mutex_relock(struct fiber_mutex *mutex, struct fiber *me, const void *at);

#endif
