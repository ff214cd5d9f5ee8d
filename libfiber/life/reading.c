/* SPDX-License-Identifier: MIT */
/*
 * reading.c - record which rwlocks a fiber holds for reading
 *
 * A rwlock counts its readers but does not know them. So a fiber has a few slots for the rwlocks
 * that it holds for reading, and counts those that do not fit. The tools search the slots of all fibers for the
 * lock that a fiber waits for, and compare what they find with the count in the lock. A reader that
 * is in no slot (a plain thread, or a fiber with more read locks than slots) is counted as unknown.
 *
 * A lock and an unlock cost a store or two, and none that depends on an earlier one: a counter would
 * wait for the store of the call before. Only the fiber itself writes here.
 *
 * A lock may be released by another fiber than the one that took it. The slot of the latter then
 * keeps the lock. The tools notice that: the XOR in the lock does not fit the readers found.
 */
#include "life/reading.h"

fib_noinline void fib_reading_add_more(struct fiber *fiber, const struct fiber_rwlock *lock)
{
	unsigned i;

	fiber->reading = 1;
	for (i = 0; i < FIB_READS; i++)
		if (!fiber->reads[i]) {
			fiber->reads[i] = lock;
			return;
		}
	fiber->reads_more++;
}

fib_noinline void fib_reading_remove_other(struct fiber *fiber, const struct fiber_rwlock *lock)
{
	unsigned i;

	for (i = 0; i < FIB_READS; i++)
		if (fiber->reads[i] == lock) {
			fiber->reads[i] = NULL;
			return;
		}
	if (fiber->reads_more)
		fiber->reads_more--;
}
