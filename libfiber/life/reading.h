/* SPDX-License-Identifier: MIT */
/*
 * reading.h - the rwlocks that a fiber holds for reading; see reading.c
 */
#ifndef FIB_LIFE_READING_H
#define FIB_LIFE_READING_H

#include "base/compiler.h"
#include "core/record.h"

/* The slow halves of the next two: the first slot is in use, or has another lock. */
void fib_reading_add_more(struct fiber *fiber, const struct fiber_rwlock *lock);
void fib_reading_remove_other(struct fiber *fiber, const struct fiber_rwlock *lock);

/* The calling fiber took lock for reading. */
static inline void fib_reading_add(struct fiber *fiber, const struct fiber_rwlock *lock)
{
	if (fib_unlikely(fiber->reads[0] != NULL)) {
		fib_reading_add_more(fiber, lock);
		return;
	}
	fiber->reads[0] = lock;
	fiber->reading = 1;
}

/*
 * The calling fiber is about to release lock, which it or another caller took for reading. A lock
 * that the fiber has not taken changes nothing, unless it holds more locks than there are slots.
 */
static inline void fib_reading_remove(struct fiber *fiber, const struct fiber_rwlock *lock)
{
	if (fib_unlikely(fiber->reads[0] != lock)) {
		fib_reading_remove_other(fiber, lock);
		return;
	}
	fiber->reads[0] = NULL;
}

/* The fiber exits: clear what is recorded. */
static inline void fib_reading_end(struct fiber *fiber)
{
	unsigned i;

	if (fib_likely(!fiber->reading))
		return;
	for (i = 0; i < FIB_READS; i++)
		fiber->reads[i] = NULL;
	fiber->reads_more = 0;
	fiber->reading = 0;
}

#endif
