/* SPDX-License-Identifier: MIT */
/*
 * take_names.c - record names: of functions, objects, states and kinds of wait
 *
 * Events have addresses only. The name of an object is known only while a fiber waits for it, so
 * the waits are read from time to time.
 */
#include <string.h>

#include <fiber/fiber.h>

#include "fibertrace/taking.h"
#include "inspect/model/words.h"

void trace_note_entry(struct trace_taking *t, uint64_t entry)
{
	size_t i;

	if (entry == t->last_entry || !entry)
		return;
	t->last_entry = entry;
	for (i = 0; i < t->entries; i++)
		if (t->entry[i] == entry)
			return;
	if (t->entries < TRACE_ENTRIES)
		t->entry[t->entries++] = entry;
}

int trace_note_name(struct trace_taking *t, const struct fib_row *row)
{
	char name[sizeof row->object_name + 1] = "";
	size_t i;

	memcpy(name, row->object_name, sizeof row->object_name);
	for (i = 0; i < t->objects && t->object[i] != row->wait_object; i++)
		;
	if (!row->wait_object || !name[0] || i < t->objects || i == TRACE_ENTRIES)
		return 0;
	t->object[t->objects++] = row->wait_object;
	return ins_recording_put_text(t->writer, FIB_RECORDING_OBJECTS, row->wait_object, name);
}

static int take_name(void *context, const struct ins_fiber *fiber)
{
	return trace_note_name(context, &fiber->row);
}

int trace_look_for_names(struct trace_taking *t, int64_t now)
{
	static const struct ins_request request;
	struct ins_summary summary = {0};

	if (!t->look_every || now - t->looked_at < t->look_every)
		return 0;
	t->looked_at = now;
	return ins_source_read(t->source, &request, take_name, t, &summary, t->error);
}

int trace_take_words(struct trace_taking *t)
{
	const struct fib_layout *layout = &t->source->layout;
	unsigned i;
	size_t k, n;
	int rc = 0;

	for (i = 0; rc == 0 && i < FIB_LAYOUT_WAITS; i++)
		rc = ins_recording_put_text(t->writer, FIB_RECORDING_WORDS, i,
					    ins_words_wait_kind(layout, i));
	for (i = 0; rc == 0 && i <= FIBER_DEAD; i++)
		rc = ins_recording_put_text(t->writer, FIB_RECORDING_WORDS, 256 + i,
					    ins_words_state(layout, i));
	for (k = 0; rc == 0 && k < t->entries; k++) {
		const struct ins_frame *f = ins_symbols_at(t->symbols, t->entry[k], false, &n);

		if (f[n - 1].function)
			rc = ins_recording_put_text(t->writer, FIB_RECORDING_PLACES, t->entry[k],
						    f[n - 1].function);
	}
	return rc;
}
