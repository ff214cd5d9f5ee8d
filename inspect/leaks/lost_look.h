/* SPDX-License-Identifier: MIT */
/* lost_look.h - one look at the memory of a source: what is alive, and which fibers are not */
#ifndef INS_LOST_LOOK_H
#define INS_LOST_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/leaks/mark.h"
#include "inspect/model/region.h"
#include "inspect/process/thread_state.h"
#include "inspect/query/table.h"
#include "inspect/unwind/unwind.h"

struct ins_lost_look {
	struct ins_source *source;
	bool live;	/* of a process that runs: registers are read only if `registers` is set */
	bool registers; /* read the registers of threads that sleep */
	/* The threads of a process that is stopped; NULL: it is not. */
	const struct ins_thread_state *stopped;
	size_t stopped_count;
	/* -- used during the look -- */
	struct ins_table *table; /* borrowed: the fibers before it */
	bool *moved;		 /* borrowed: by index of the table; NULL: nothing can move */
	struct ins_regions regions;
	struct ins_regions slabs; /* the memory that stacks are cut from */
	size_t slab;		  /* of these, the one that was found last */
	uint64_t skipped;	  /* bytes that were never written */
	uint64_t failed[256];	  /* pages that could not be read; more are only counted */
	size_t failures;
	struct ins_memory_reader reader;
	struct ins_windows *windows;
	struct ins_mark *mark;
	struct ins_unwinder *unwinder; /* NULL: not needed yet */
	/* -- the result -- */
	size_t unknown; /* threads whose registers are not known */
	size_t unread; /* pages that should be there and could not be read; stacks that are missing */
	size_t missing; /* of these: stacks */
};

/*
 * Mark what is alive, given the fibers in look->table. Returns 0 or a negative errno. End the look in
 * both cases; after that it can be used for another one. Drop it after the last one.
 */
int ins_lost_look(struct ins_lost_look *look);
void ins_lost_look_end(struct ins_lost_look *look);
void ins_lost_look_drop(struct ins_lost_look *look);

/*
 * Read the records again: mark what the fibers have that started or moved since look->table was read, and
 * note in look->moved which of that table have moved or exited. 0 or a negative errno.
 */
int ins_lost_look_again(struct ins_lost_look *look);

/*
 * After the look: count in look->unread what could not be read and is still there. -ESRCH if the process
 * has ended, else 0 or a negative errno.
 */
int ins_lost_look_check(struct ins_lost_look *look);

/* -- lost_region.c -- */

/* The region of the look that has address, or NULL. */
const struct ins_region *ins_lost_look_region(const struct ins_lost_look *look, uint64_t address);

/* -- lost_failed.c -- */

/* Note that what is at address could not be read. */
void ins_lost_look_failed(struct ins_lost_look *look, uint64_t address);

/*
 * For a core: note that the stack at that stack pointer is missing, if it is. 0: there is none.
 */
void ins_lost_look_stack(struct ins_lost_look *look, uint64_t sp);

/* -- lost_threads.c -- */

/* Add the stacks and registers of threads to the roots. 0 or a negative errno. */
int ins_lost_threads(struct ins_lost_look *look);

#endif
