/* SPDX-License-Identifier: MIT */
/*
 * held.h - the locks that a fiber holds exclusively: mutexes, and rwlocks for writing; see held.c
 */
#ifndef FIB_LIFE_HELD_H
#define FIB_LIFE_HELD_H

#include <stdint.h>

#include "core/record.h"

/* The calling fiber took / released a lock. at: address of its call, for messages. */
static inline void fib_held_mutex(struct fiber *fiber, const struct fiber_mutex *mutex,
				  const void *at)
{
	fiber->held++;
	fiber->held_last = mutex;
	fiber->held_at = at;
}

static inline void fib_held_rwlock(struct fiber *fiber, const struct fiber_rwlock *lock,
				   const void *at)
{
	fiber->held++;
	fiber->held_last = (const char *)(const void *)lock + 1;
	fiber->held_at = at;
}

static inline void fib_held_release(struct fiber *fiber)
{
	fiber->held--;
}

/* The calling fiber exits with locks held: apply its runtime's policy, and clear the count. */
void fib_held_at_exit(struct fiber *fiber);

#endif
