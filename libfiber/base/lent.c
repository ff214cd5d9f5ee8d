/* SPDX-License-Identifier: MIT */
/*
 * lent.c - register stacks in memory of the program with valgrind
 *
 * A program does not say when memory stops being a stack, so no entry is ever removed. Memory that
 * is used again with the same size is not registered twice: otherwise valgrind's list of stacks
 * would grow with each fiber.
 */
#include "base/lent.h"

#include <stdlib.h>

#include "base/atomic.h"

struct note {
	struct note *next; /* I once in the list */
	void *low;	   /* I */
	size_t size;	   /* the thread that lends this memory; one at a time */
	unsigned stack;	   /* valgrind's number; same rule as size */
};

static _Atomic(struct note *) notes; /* A: lent.notes */

static struct note *find(const void *low)
{
	/* pairs: lent.notes */
	struct note *note = fib_load_acquire(&notes);

	while (note && note->low != low)
		note = note->next;
	return note;
}

void fib_lent_register(const struct fib_lent_ops *ops, void *low, size_t size)
{
	struct note *note = find(low);

	if (note) {
		if (note->size == size)
			return;
		ops->forget(note->stack);
		note->size = size;
		note->stack = ops->enter(low, size);
		return;
	}
	note = malloc(sizeof *note);
	if (!note)
		return;
	note->low = low;
	note->size = size;
	note->stack = ops->enter(low, size);
	note->next = fib_load(&notes);
	/* label: lent.notes -- a reader that sees the note sees its contents and those of the notes
	 * after it. */
	while (!fib_cas(&notes, &note->next, note))
		;
}
