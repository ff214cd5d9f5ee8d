/* SPDX-License-Identifier: MIT */
/*
 * mark.h - which fibers can something alive still wake
 *
 * Give the memory areas, the roots and the fibers; mark; ask for each fiber. All of it is numbers, so
 * that the marking does not know where they come from.
 */
#ifndef INS_MARK_H
#define INS_MARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/leaks/windows.h"

#define INS_MARK_NONE 0 /* no address */

struct ins_mark_fiber {
	uint64_t stack_low, stack_end; /* its whole stack; equal: none */
	uint64_t stack_used;	       /* the lowest address that it uses */
	uint64_t record;	       /* its record; INS_MARK_NONE: none */
	/*
	 * Reaching this address wakes it: its object. It may be in the record of a fiber that it
	 * joins: then that fiber must be alive.
	 */
	uint64_t object;
	bool alive; /* whatever is reached: it runs, sleeps, ... */
};

struct ins_mark;

/* windows: the memory, borrowed. -ENOMEM. */
int ins_mark_new(struct ins_windows *windows, struct ins_mark **ret);
void ins_mark_free(struct ins_mark *mark); /* NULL: nothing */

/* -- what there is; each returns 0 or -ENOMEM -- */

/* An area whose objects are followed if something reaches them. heap: the kernel's word. */
int ins_mark_area(struct ins_mark *mark, uint64_t start, uint64_t end, bool heap);

/* Memory that is alive. */
int ins_mark_root(struct ins_mark *mark, uint64_t start, uint64_t end);

/* Memory where nothing is, but for the stacks of fibers in it. */
int ins_mark_dead(struct ins_mark *mark, uint64_t start, uint64_t end);

/* A word that is alive: a register, or one that the kernel keeps. */
int ins_mark_word(struct ins_mark *mark, uint64_t word);

/*
 * The fibers' records: count records of size bytes each. argument: the offset of a word that belongs
 * to the program, though it may be a handle; 0: none.
 */
int ins_mark_records(struct ins_mark *mark, uint64_t start, uint64_t size, uint64_t count,
		     uint64_t argument);

/* The next fiber; they are numbered from 0. */
int ins_mark_fiber(struct ins_mark *mark, const struct ins_mark_fiber *fiber);

/* -- marking -- */

/* Mark all that is alive. 0 or -ENOMEM. Once. */
int ins_mark_all(struct ins_mark *mark);

/* After ins_mark_all(): fiber i is alive too. 0 or -ENOMEM. */
int ins_mark_more_fiber(struct ins_mark *mark, size_t i);

/*
 * After ins_mark_all(), the process has run on: mark from what has moved meanwhile. Memory is read
 * anew from here on, what was marked is followed once more, and free memory of malloc() is followed
 * too, since it may be in use now.
 */
void ins_mark_again(struct ins_mark *mark);

/* After ins_mark_again(): more memory that is alive. 0 or -ENOMEM. */
int ins_mark_more(struct ins_mark *mark, uint64_t start, uint64_t end);
/* The same for a record of which a copy is at hand: the record may have changed since. */
int ins_mark_more_record(struct ins_mark *mark, uint64_t address, const void *bytes);
int ins_mark_more_word(struct ins_mark *mark, uint64_t word);

/*
 * Whether fiber i is alive; whether something alive, other than its own stack, has its handle: the
 * address of its record.
 */
bool ins_mark_alive(const struct ins_mark *mark, size_t i);
bool ins_mark_held(const struct ins_mark *mark, size_t i);

#endif
