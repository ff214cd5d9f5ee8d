/* SPDX-License-Identifier: MIT */
/*
 * shadow.h - what is known of each 8 bytes of memory in this schedule
 *
 * Shadow memory is never written back to its beginning: a page of cells has a generation, and a
 * cell of another generation is new. A schedule gives each page a new generation when the page is
 * used first; so does memory that becomes something else, which is a fiber's stack or allocated.
 */
#ifndef FIB_TEST_SHADOW_H
#define FIB_TEST_SHADOW_H

#include <stddef.h>
#include <stdint.h>

#include "memory/clocks.h"

/* Whose a cell is, beside the numbers of fibers. */
#define FIB_CELL_UNTOUCHED 0u		    /* not touched in this schedule; it was there before */
#define FIB_CELL_SHARED	   UINT32_MAX	    /* several fibers */
#define FIB_CELL_IGNORED   (UINT32_MAX - 1) /* of a thread: fibers on other carriers have their own */

#define FIB_ACCESS_WRITES 1u
#define FIB_ACCESS_ATOMIC 2u

struct fib_held;

/* An access that later ones may race with. */
struct fib_seen {
	const void *pc;
	const struct fib_held *held;
	struct fib_seen *more;
	uint32_t step, number;
	uint16_t slot;
	uint8_t mask; /* of the bytes of the cell; 0: none */
	uint8_t kind;
};

/* What an atomic variable or an object of libfiber publishes. */
struct fib_sync {
	struct fib_sync *more;
	struct fib_clock *released;
	struct fib_queue_order *queue; /* of a channel, see order.c; NULL: none yet */
	uint32_t head;		       /* the fiber whose store published last */
	uint8_t offset;		       /* in the cell */
};

struct fib_cell {
	uint64_t generation;
	struct fib_seen seen;
	struct fib_sync *syncs;
	uint32_t whose;
};

/* The cell of an address. Valid until the next schedule. */
struct fib_cell *fib_shadow_cell(uintptr_t at);

/* The sync of an address; it is made if there is none. */
struct fib_sync *fib_shadow_sync(const void *at);

/* [at, at + size) is new memory of `whose`. */
void fib_shadow_renew(uintptr_t at, size_t size, uint32_t whose);

/* A schedule starts. */
void fib_shadow_begin(void);

#endif
