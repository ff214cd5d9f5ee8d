/* SPDX-License-Identifier: MIT */
/* mutex.h - what a condition variable needs of a mutex beyond its public calls. */
#ifndef FIB_SYNC_MUTEX_H
#define FIB_SYNC_MUTEX_H

#include <fiber/sync.h>

#include "base/atomic.h"
#include "life/held.h"

/* fiber_mutex_unlock() where one swap was not enough: a thread's, a contended one, or one that is not the caller's. A
 * fiber has released it in its own count before. */
int fib_mutex_unlock_slow(struct fiber_mutex *mutex);

/* fiber_mutex_unlock() by me, the calling fiber; NULL: by a thread. */
static inline int fib_mutex_unlock(struct fiber_mutex *mutex, struct fiber *me)
{
	uint64_t owner;

	if (fib_likely(me != NULL)) {
		fib_held_release(me);
		owner = me->id;
		/* From the swap on it may be taken, released and gone: we touch it no more. */
		if (fib_likely(fib_cas(&mutex->owner, &owner, 0)))
			return 0;
	}
	return fib_mutex_unlock_slow(mutex);
}

/* Lock, waiting as long as it takes, whatever the pinned-blocking policy says: the caller has promised to
 * hold the mutex when it returns. me: the calling fiber, NULL: a thread. at: where the caller was called, for fib_held_mutex(). */
void fib_mutex_relock(struct fiber_mutex *mutex, struct fiber *me, const void *at);

#endif
