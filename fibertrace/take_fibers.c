/* SPDX-License-Identifier: MIT */
/* take_fibers.c - record the list of fibers: at the start, and with their stacks at the end */
#include <string.h>

#include "fibertrace/taking.h"

static int take_fiber(void *context, const struct ins_fiber *fiber)
{
	const struct fib_row *row = &fiber->row;
	struct trace_taking *t = context;
	struct fib_recording_fiber f = {
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

int trace_take_fibers(struct trace_taking *t, enum fib_recording_section where)
{
	const bool last = where == FIB_RECORDING_LAST;
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
