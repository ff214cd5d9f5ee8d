/* SPDX-License-Identifier: MIT */
/*
 * table.h - a table of descriptors, indexed by number
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
 * The first cache line holds what reading a request and writing the answer touch.
 */
struct fib_descriptor {
	struct fib_direction reading;
	_Atomic uint32_t generation; /* G writes, A reads: descriptor.look */
	_Atomic uint32_t fresh;	     /* G writes, A reads: known to be new since it was watched */
	_Atomic uint64_t watched_by; /* G writes, A reads: serial of the sched (watch/watch.h) */
	_Atomic uint64_t drained;    /* A: FIB_DRAINED | the reading edges when it was read empty */
	_Atomic uint32_t empty;	     /* A: a hint: reads that found nothing (empty.c) */
	_Atomic uint16_t writers;    /* A: a fiber has waited to write: descriptor.writers */
	_Atomic uint8_t last;	     /* A: nothing more will be announced; published by edges */
	_Atomic uint8_t plain;	     /* A: a hint: no socket, RWF_NOWAIT works (fib_os_read_as) */

	struct fib_direction writing;
	_Atomic uint64_t kind; /* A: its generation << KIND_BITS | KIND_* */
	_Atomic uint32_t lock; /* fib_descriptor_lock */
	_Atomic uint32_t gate; /* held for at most one call of the poller */
	_Atomic uint64_t file; /* G writes, A reads: identity of the watched file; 0: not known */
	_Atomic uint32_t replaced; /* G: the poller may have an earlier file too; registration.c */
	uint32_t unused;
} fib_aligned(FIB_CACHE_LINE);

_Static_assert(sizeof(struct fib_descriptor) == 2 * FIB_CACHE_LINE, "two cache lines");

/* A bit above the 32 bits of the edges: the edges have been recorded. */
#define FIB_DRAINED (UINT64_C(1) << 32)

static inline struct fib_direction *fib_descriptor_side(struct fib_descriptor *d, int side)
{
	return side == READING ? &d->reading : &d->writing;
}

#define FIB_TABLE_BLOCK	 1024u
#define FIB_TABLE_BLOCKS 4096u

extern struct fib_descriptor *_Atomic fib_table_blocks[FIB_TABLE_BLOCKS];

/* Whether fd is in the range of descriptor numbers that the table covers. */
static inline bool fib_descriptor_possible(int fd)
{
	return fd >= 0 && (unsigned)fd < FIB_TABLE_BLOCK * FIB_TABLE_BLOCKS;
}

/* Returns the entry of fd, or NULL: there is none yet, or fd is out of range. Any thread. */
static inline struct fib_descriptor *fib_descriptor_find(int fd)
{
	struct fib_descriptor *block;

	if (fib_unlikely(!fib_descriptor_possible(fd)))
		return NULL;
	/* pairs: table.block -- the block is zeroed before it is found. */
	block = fib_load_acquire(&fib_table_blocks[(unsigned)fd / FIB_TABLE_BLOCK]);
	return block ? &block[(unsigned)fd % FIB_TABLE_BLOCK] : NULL;
}

/* The token that the poller gets for fd while it is this descriptor (this generation). */
static inline uint64_t fib_descriptor_token(int fd, struct fib_descriptor *d)
{
	return (uint64_t)fib_load(&d->generation) << 32 | (uint32_t)fd;
}

/*
 * Count an edge and wake the waiters of a side that the events concern (waiters.h). Wakes only
 * waiters that are queued now, usually one. A later waiter joins only if it has looked after this
 * edge.
 */
void fib_descriptor_wake_side(struct fib_direction *side, short events);

/* Find or make the entry of fd. NULL: out of memory, or fd is out of range. */
struct fib_descriptor *fib_descriptor_make(int fd);

/* Serialises operations that must check first and act then (accept on a blocking socket). */
void fib_descriptor_lock(int fd);
void fib_descriptor_unlock(int fd);

/*
 * In a forked child: clear all entries. No fiber waits, and no poller of the child knows a
 * descriptor.
 */
void fib_descriptor_forget_all(void);

#endif
