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

enum { READING, WRITING, DIRECTIONS };

/* A any thread, atomic · L under waiters.lock */
struct fib_direction {
	struct fiber_wait_queue waiters;
	_Atomic uint32_t edges; /* L writes, A reads: descriptor.look */
};

/* A any thread, atomic · G under gate. All zero: nothing is known. */
struct fib_descriptor {
	struct fib_direction side[DIRECTIONS];
	_Atomic uint32_t generation; /* G writes, A reads: descriptor.look */
	_Atomic uint32_t lock;	     /* fib_descriptor_lock */
	_Atomic uint64_t watched_by; /* G writes, A reads: serial of the sched that watches it */
	_Atomic uint32_t fresh;	     /* G writes, A reads: known new since it was watched */
	_Atomic uint32_t gate;	     /* held for one epoll_ctl at most */
	_Atomic uint32_t last;	     /* A: nothing more will be announced; edges publishes it */
	_Atomic uint64_t drained;    /* A: DRAINED | the edges of the reading side it is so at */
	_Atomic uint64_t kind;	     /* A: its generation << KIND_BITS | KIND_* */
};

/* Whether a descriptor can have that number. */
bool fib_descriptor_possible(int fd);

/* What is known of fd. NULL: nothing yet, or no descriptor has that number. Any thread. */
struct fib_descriptor *fib_descriptor_find(int fd);

/* The same, but NULL without memory, or when no descriptor can have that number. */
struct fib_descriptor *fib_descriptor_make(int fd);

/* In a forked child: nobody waits for anything, and no poller of ours knows any descriptor. */
void fib_descriptor_forget_all(void);

#endif
