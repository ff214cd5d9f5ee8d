/* SPDX-License-Identifier: MIT */
/* mutex.h - what a condition variable needs of a mutex beyond its public calls. */
#ifndef FIB_SYNC_MUTEX_H
#define FIB_SYNC_MUTEX_H

#include <fiber/sync.h>

/* Lock, waiting as long as it takes, whatever the pinned-blocking policy says: the caller has promised to
 * hold the mutex when it returns. */
void fib_mutex_relock(struct fiber_mutex *mutex);

#endif
