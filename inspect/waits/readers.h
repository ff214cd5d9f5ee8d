/* SPDX-License-Identifier: MIT */
/*
 * readers.h - the rwlocks that fibers wait for and that are held for reading, and by whom
 *
 * A fiber's row has a few rwlocks that the fiber holds for reading. The lock has the number of its
 * readers and the XOR of their marks (FIB_READERS_*). Both together tell the readers, and how many
 * of them are not known.
 */
#ifndef INS_READERS_H
#define INS_READERS_H

#include <stddef.h>
#include <stdint.h>

#include "inspect/query/table.h"

struct ins_read_lock {
	uint64_t object;
	uint64_t total;	      /* readers, as the lock counts them */
	const size_t *fibers; /* indices in the table of those that are known, by id */
	size_t count;
	/*
	 * One more that was computed from the XOR and has no row: FIB_HOLDER_THREAD | tid of a plain
	 * thread, or the id of a fiber that has exited; 0: none.
	 */
	uint64_t other;
	uint64_t unknown; /* further readers */
	size_t writer;	  /* index of the fiber that waits longest to write; SIZE_MAX: none */
};

/* How many hold it: a fiber that reads it twice is one. */
static inline uint64_t ins_read_lock_holders(const struct ins_read_lock *lock)
{
	return lock->count + (lock->other != 0) + lock->unknown;
}

struct ins_readers;

/* Find them in a table, which is borrowed. -ENOMEM. */
int ins_readers_new(struct ins_table *table, struct ins_readers **ret);
void ins_readers_free(struct ins_readers *readers); /* NULL: nothing */

size_t ins_readers_count(const struct ins_readers *readers);
const struct ins_read_lock *ins_readers_at(const struct ins_readers *readers, size_t i);

/* The index of the lock that the fiber of a row waits for; SIZE_MAX: no such lock. */
size_t ins_readers_find(const struct ins_readers *readers, const struct fib_row *row);

#endif
