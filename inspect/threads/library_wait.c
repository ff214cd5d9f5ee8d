/* SPDX-License-Identifier: MIT */
/*
 * library_wait.c - find what a thread that sleeps in the fiber library waits for
 *
 * A plain thread has no record. What it waits for is on its stack, beside the word that it sleeps
 * on; the registry says where (struct fib_layout_thread_wait). The thread's own number is there too:
 * if it is not that of the thread that sleeps, the word is another one. A thread that joins a fiber
 * sleeps on a word of the fiber's record, and so does the carrier of a pinned fiber that waits.
 *
 * The waker changes the word before it wakes the thread. So a thread whose word has no longer the
 * value that it sleeps on waits for nothing more, although all else still says that it does. Its
 * lock may already be its own.
 */
#include "inspect/threads/library_wait.h"

#include <fiber/fiber.h>

#include "inspect/model/words.h"
#include "layout/layout.h"

/* Read a field of the struct at address. False: it is not published, or cannot be read. */
static bool field(const struct ins_sleeper *s, uint64_t address, struct fib_layout_field f,
		  void *ret, size_t size)
{
	return f.size == size && ins_sleeper_read(s, address + f.offset, ret, size);
}

/* Whether the word has another value than the thread sleeps on. */
static bool is_decided(const struct ins_sleeper *s)
{
	uint32_t word;

	return ins_sleeper_read(s, s->at->argument[0], &word, sizeof word) &&
	       word != (uint32_t)s->at->argument[2];
}

/* Make the row that of a thread that is about to run. */
static void take_decided(struct fib_row *row)
{
	row->state = FIBER_RUNNABLE;
	row->wait_kind = FIB_WAIT_NONE;
	row->wait_object = row->holder = 0;
	row->wait_arg = FIB_ROW_UNKNOWN;
	row->deadline = INT64_MAX;
}

static bool take_waiter(const struct ins_sleeper *s, struct fib_row *row)
{
	const struct fib_layout *layout = &s->source->layout;
	const struct fib_layout_thread_wait *t = &layout->thread_wait;
	const uint64_t start = s->at->argument[0] - t->word.offset;
	uint64_t who, object, arg;
	uint32_t kind;

	if (t->word.size != sizeof kind || !field(s, start, t->who, &who, sizeof who) ||
	    who != (FIB_HOLDER_THREAD | s->at->inner) ||
	    !field(s, start, t->kind, &kind, sizeof kind) ||
	    !field(s, start, t->object, &object, sizeof object) ||
	    !field(s, start, t->arg, &arg, sizeof arg) || !kind || kind >= INS_WAIT_CALL)
		return false;
	if (is_decided(s)) {
		take_decided(row);
		return true;
	}
	row->wait_kind = (uint8_t)kind;
	row->wait_object = object;
	row->wait_arg = arg;
	row->holder = 0;
	/* An object that cannot be read has no name and no known holder. */
	fib_row_resolve(layout, row, s->source->memory, s->source);
	return true;
}

/* A word of a fiber's record. */
static bool take_record(const struct ins_sleeper *s, struct fib_row *row)
{
	const struct fib_layout *layout = &s->source->layout;
	const uint64_t at = s->at->argument[0] - layout->records;
	uint64_t record, id;

	if (s->at->argument[0] < layout->records || at / layout->record_size >= layout->committed)
		return false;
	if (is_decided(s)) {
		take_decided(row);
		return true;
	}
	if (!fib_layout_has(layout, FIB_FIELD_JOINER, sizeof(uint32_t)) ||
	    at % layout->record_size != layout->fields[FIB_FIELD_JOINER].offset)
		return false;
	record = s->at->argument[0] - at % layout->record_size;
	if (!field(s, record, layout->fields[FIB_FIELD_ID], &id, sizeof id) || !id)
		return false;
	row->wait_kind = FIB_WAIT_JOIN;
	row->wait_object = record;
	row->wait_arg = id;
	return true;
}

bool ins_library_wait(const struct ins_sleeper *sleeper, struct fib_row *row)
{
	const struct fib_layout *layout = &sleeper->source->layout;

	/* Without a registry the layout is zero. */
	if (!layout->record_size)
		return false;
	return take_waiter(sleeper, row) || take_record(sleeper, row);
}
