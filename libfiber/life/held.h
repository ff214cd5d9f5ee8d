/* SPDX-License-Identifier: MIT */
/*
 * held.h - the locks that a fiber holds exclusively: mutexes, and rwlocks for writing; see held.c
 */
#ifndef FIB_LIFE_HELD_H
#define FIB_LIFE_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/record.h"

/*
 * A lock is held_last from when it is taken until it is released or another one is taken. The others
 * are only counted. So a fiber that holds one lock at a time changes no counter: each change would
 * wait for the store of the one before.
 */
static inline void fib_held_add(struct fiber *fiber, const void *lock, const void *at)
{
	if (fiber->held_last)
		fiber->held_more++;
	fiber->held_last = lock;
	fiber->held_at = at;
}

static inline void fib_held_remove(struct fiber *fiber, const void *lock)
{
	if (fib_likely(fiber->held_last == lock))
		fiber->held_last = NULL;
	else
		fiber->held_more--;
}

/* The calling fiber took / releases a lock. at: address of its call, for messages. */
static inline void fib_held_mutex(struct fiber *fiber, const struct fiber_mutex *mutex,
				  const void *at)
{
	fib_held_add(fiber, mutex, at);
}

static inline void fib_held_mutex_released(struct fiber *fiber, const struct fiber_mutex *mutex)
{
	fib_held_remove(fiber, mutex);
}

static inline void fib_held_rwlock(struct fiber *fiber, const struct fiber_rwlock *lock,
				   const void *at)
{
	fib_held_add(fiber, (const char *)(const void *)lock + 1, at);
}

static inline void fib_held_rwlock_released(struct fiber *fiber, const struct fiber_rwlock *lock)
{
	fib_held_remove(fiber, (const char *)(const void *)lock + 1);
}

/* Whether the fiber holds a lock. */
static inline bool fib_held_any(const struct fiber *fiber)
{
	return fiber->held_last || fiber->held_more;
}

/* The calling fiber exits with locks held: apply its runtime's policy, and clear the count. */
void fib_held_at_exit(struct fiber *fiber);

#endif
