/* SPDX-License-Identifier: MIT */
/*
 * table.h - what is known of each descriptor, by its number
 */
#ifndef FIB_IO_TABLE_H
#define FIB_IO_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <fiber/sync.h>

#include "base/atomic.h"
#include "base/compiler.h"

enum { READING, WRITING, DIRECTIONS };

/* A any thread, atomic · L under waiters.lock */
struct fib_direction {
	struct fiber_wait_queue waiters;
	_Atomic uint32_t edges; /* L writes, A reads: descriptor.look */
};

/*
 * A any thread, atomic · G under gate. All zero: nothing is known.
 * What a request that is read and answered touches lies in the first cache line.
 */
struct fib_descriptor {
	struct fib_direction reading;
	_Atomic uint32_t generation; /* G writes, A reads: descriptor.look */
	_Atomic uint32_t fresh;	     /* G writes, A reads: known new since it was watched */
	_Atomic uint64_t watched_by; /* G writes, A reads: serial of the sched (watch/watch.h) */
	_Atomic uint64_t drained; /* A: FIB_DRAINED | the edges of the reading side it is so at */
	_Atomic uint32_t last;	  /* A: nothing more will be announced; edges publishes it */
	_Atomic uint32_t writers; /* A: somebody has waited to write: descriptor.writers */

	struct fib_direction writing;
	_Atomic uint64_t kind; /* A: its generation << KIND_BITS | KIND_* */
	_Atomic uint32_t lock; /* fib_descriptor_lock */
	_Atomic uint32_t gate; /* held for one call of the poller at most */
	uint64_t unused[2];
} fib_aligned(FIB_CACHE_LINE);

_Static_assert(sizeof(struct fib_descriptor) == 2 * FIB_CACHE_LINE, "two cache lines");

/* Above 32 bits of edges: they were noted. */
#define FIB_DRAINED (UINT64_C(1) << 32)

static inline struct fib_direction *fib_descriptor_side(struct fib_descriptor *d, int side)
{
	return side == READING ? &d->reading : &d->writing;
}

#define FIB_TABLE_BLOCK	 1024u
#define FIB_TABLE_BLOCKS 4096u

extern struct fib_descriptor *_Atomic fib_table_blocks[FIB_TABLE_BLOCKS];

/* Whether a descriptor can have that number. */
static inline bool fib_descriptor_possible(int fd)
{
	return fd >= 0 && (unsigned)fd < FIB_TABLE_BLOCK * FIB_TABLE_BLOCKS;
}

/* What is known of fd. NULL: nothing yet, or no descriptor has that number. Any thread. */
static inline struct fib_descriptor *fib_descriptor_find(int fd)
{
	struct fib_descriptor *block;

	if (fib_unlikely(!fib_descriptor_possible(fd)))
		return NULL;
	/* pairs: table.block -- zeroed before it is found. */
	block = fib_load_acquire(&fib_table_blocks[(unsigned)fd / FIB_TABLE_BLOCK]);
	return block ? &block[(unsigned)fd % FIB_TABLE_BLOCK] : NULL;
}

/* What the poller is told to call fd by, as long as it is this descriptor. */
static inline uint64_t fib_descriptor_token(int fd, struct fib_descriptor *d)
{
	return (uint64_t)fib_load(&d->generation) << 32 | (uint32_t)fd;
}

/* Wake whom the events are for (waiters.h) of those who came to a side before now, most often one; whoever comes later has
 * noted an older count. */
void fib_descriptor_wake_side(struct fib_direction *side, short events);

/* fib_descriptor_find(), but NULL without memory, or when no descriptor can have that number. */
struct fib_descriptor *fib_descriptor_make(int fd);

/* Serialises calls that can only look first and act then (accept on a blocking socket). */
void fib_descriptor_lock(int fd);
void fib_descriptor_unlock(int fd);

/* In a forked child: nobody waits for anything, and no poller of ours knows any descriptor. */
void fib_descriptor_forget_all(void);

#endif
