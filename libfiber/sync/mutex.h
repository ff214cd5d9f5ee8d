/* SPDX-License-Identifier: MIT */
/* mutex.h - what a condition variable needs of a mutex beyond the public calls */
#ifndef FIB_SYNC_MUTEX_H
#define FIB_SYNC_MUTEX_H

#include <fiber/sync.h>

#include "base/atomic.h"
#include "life/held.h"
#include "order.h"
#include "sched/sched.h"
#include "wait/wait_queue.h"

/*
 * The slow path of fiber_mutex_unlock(): the caller is a thread, the mutex has waiters, or the
 * caller does not own it. A calling fiber has already called fib_held_mutex_released().
 */
int fib_mutex_unlock_slow(struct fiber_mutex *mutex);

/* c: the calling carrier, NULL if the caller is a plain thread. */
static fib_always_inline int fib_mutex_unlock(struct fiber_mutex *mutex, struct fib_carrier *c)
{
	struct fiber *me = c ? c->current : NULL;
	uint64_t owner;
	int done;

	fib_order_unlock(mutex, true);
	if (fib_likely(me != NULL)) {
		fib_held_mutex_released(me, mutex);
		owner = me->id;
		/*
		 * After the swap another caller may lock, unlock and free the mutex: do not touch it
		 * again. With waiters the locked swap would fail, which costs as much as one that
		 * succeeds.
		 */
		done = fib_sole_swap64(c->sole, &mutex->owner, owner, 0);
		if (done > 0 || (done < 0 && fib_load(&mutex->owner) == owner &&
				 fib_sole_cas64_shared(&mutex->owner, owner, 0)))
			return 0;
	}
	return fib_mutex_unlock_slow(mutex);
}

/*
 * Lock without a deadline and without regard to cancellation or the pinned-blocking policy, for a
 * caller that promised to hold the mutex when it returns. c: the calling carrier, NULL on a plain
 * thread. at: the return address of the public call, for fib_held_mutex().
 */
void fib_mutex_relock(struct fiber_mutex *mutex, struct fib_carrier *c, const void *at);

/*
 * Move the waiters of a broadcast from list, where their waits are claimed, into the queue of their
 * mutex, if it is held. Waiters that block a thread stay in list, and all do if the mutex is free.
 * A moved waiter next runs when it owns the mutex; fib_mutex_relock() finds that out.
 */
void fib_mutex_move_waiters(struct fiber_mutex *mutex, struct fib_wake_list *list);

#endif
