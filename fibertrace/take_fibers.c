/* SPDX-License-Identifier: MIT */
/* take_fibers.c - who the fibers of a recording are, what they run, and what things are called. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/fiber.h>

#include "fibertrace/taking.h"
#include "inspect/render/render.h"

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

static int take_fiber(void *context, const struct ins_fiber *fiber)
{
	const struct fib_row *row = &fiber->row;
	struct trace_taking *t = context;
	struct ins_recording_fiber f = {
		.id = row->id,
		.entry = row->entry,
		.wait_object = row->wait_object,
		.wait_arg = row->wait_arg,
		.parent = row->parent,
		.since = fiber->now - row->age,
		.seen = fiber->now,
		.state = row->state,
		.wait_kind = row->wait_kind,
		.carrier = row->carrier,
	};
	int rc;

	memcpy(f.name, row->name, sizeof f.name);
	memcpy(f.object_name, row->object_name, sizeof f.object_name);
	trace_note_entry(t, row->entry);
	t->taken->fibers++;
	rc = ins_recording_put(t->writer, t->list, &f, sizeof f);
	return rc == 0 ? trace_read_rings(t) : rc;
}

static int take_last(void *context, const struct ins_fiber *fiber)
{
	int rc = take_fiber(context, fiber);

	return rc == 0 ? trace_put_sample(context, fiber) : rc;
}

int trace_take_fibers(struct trace_taking *t, enum ins_recording_section where)
{
	const bool last = where == INS_RECORDING_LAST;
	const struct ins_request request = {.stacks = last, .modules = true};
	struct ins_summary summary = {0};
	int rc;

	t->list = where;
	t->taken->fibers = 0;
	if (last)
		trace_begin_look(t);
	rc = ins_source_read(t->source, &request, last ? take_last : take_fiber, t, &summary,
			     t->error);
	return rc == 0 && last ? trace_end_look(t) : rc;
}

int trace_note_name(struct trace_taking *t, const struct fib_row *row)
{
	char name[sizeof row->object_name + 1] = "";
	size_t i;

	memcpy(name, row->object_name, sizeof row->object_name);
	for (i = 0; i < t->objects && t->object[i] != row->wait_object; i++)
		;
	if (!name[0] || i < t->objects || i == TRACE_ENTRIES)
		return 0;
	t->object[t->objects++] = row->wait_object;
	return ins_recording_put_text(t->writer, INS_RECORDING_OBJECTS, row->wait_object, name);
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
		rc = ins_recording_put_text(t->writer, INS_RECORDING_WORDS, i,
					    ins_words_wait_kind(layout, i));
	for (i = 0; rc == 0 && i <= FIBER_DEAD; i++)
		rc = ins_recording_put_text(t->writer, INS_RECORDING_WORDS, 256 + i,
					    ins_words_state(layout, i));
	for (k = 0; rc == 0 && k < t->entries; k++) {
		const struct ins_frame *f = ins_symbols_at(t->symbols, t->entry[k], false, &n);

		if (f[n - 1].function)
			rc = ins_recording_put_text(t->writer, INS_RECORDING_PLACES, t->entry[k],
						    f[n - 1].function);
	}
	return rc;
}
