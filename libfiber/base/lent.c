/* SPDX-License-Identifier: MIT */
/*
 * lent.c - stacks in memory of the program's own, which valgrind is told of
 *
 * A program does not say when memory stops being a stack, so nothing is ever taken off the list. Memory that is lent again, with
 * the same size, is not told twice: else valgrind's list of stacks would grow with each fiber.
 */
#include "base/lent.h"

#include <stdlib.h>

#include "base/atomic.h"

struct note {
	struct note *next; /* I once in the list */
	void *low;	   /* I */
	size_t size;	   /* whoever lends this memory: one thread at a time */
	unsigned stack;	   /* the same */
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

void fib_lent_tell(const struct fib_lent_ops *ops, void *low, size_t size)
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
	/* label: lent.notes -- who sees the note sees what is in it, and in those behind it. */
	while (!fib_cas(&notes, &note->next, note))
		;
}
