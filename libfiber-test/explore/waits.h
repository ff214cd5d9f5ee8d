/* SPDX-License-Identifier: MIT */
/*
 * waits.h - which fiber waits for which other one, and the deadlocks among them
 *
 * The fibers are read as a program would read its own (fiber/introspect.h). A fiber that waits for a
 * lock, or joins, waits for one other fiber. Following these leads to a cycle, to a lock whose
 * holder has exited, or to a fiber that waits for something that no fiber holds. The kinds are those
 * of inspect/waits/deadlock.h.
 */
#ifndef FIB_TEST_WAITS_H
#define FIB_TEST_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fiber/introspect.h>

struct fib_deadlock {
	enum {
		FIB_DEADLOCK_CYCLE,
		FIB_DEADLOCK_SELF,
		FIB_DEADLOCK_ENDED,
		FIB_DEADLOCK_ANCESTOR, /* a fiber joins an ancestor that waits for its descendants */
	} kind;
	unsigned count;	 /* fibers in it: of a cycle, or that wait for the lock; ANCESTOR: 2 */
	unsigned behind; /* others that wait for these */
	size_t first; /* index of one of its fibers; ENDED: of one that waits; ANCESTOR: that joins */
};

struct fib_waits {
	struct fiber_info *all; /* submitted and not exited, by id */
	size_t n;
	int *next; /* the index of the fiber it waits for; -1: none */
	int *in;   /* the index of its deadlock; -1: none, or it waits behind one */
	struct fib_deadlock *deadlocks;
	size_t count;
	bool stuck; /* none of them can ever run again */
};

/* Read the fibers of a runtime, NULL: of all, with an id of at least `first`. */
void fib_waits_read(struct fiber_runtime *rt, uint64_t first, struct fib_waits *ret);
void fib_waits_free(struct fib_waits *waits);

/* The fiber that fiber i of a cycle waits for, in order; back at the first after `count`. */
static inline size_t fib_waits_next(const struct fib_waits *waits, size_t i)
{
	return (size_t)waits->next[i];
}

#endif
