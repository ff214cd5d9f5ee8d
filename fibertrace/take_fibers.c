/* SPDX-License-Identifier: MIT */
/* take_fibers.c - who the fibers of a recording are, what they run, and where they wait when it ends. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/fiber.h>

#include "fibertrace/taking.h"
#include "inspect/render.h"

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

static void put_frame(FILE *out, const struct ins_frame *f)
{
	const char *at;

	if (!f->function) {
		fprintf(out, "0x%" PRIx64, f->pc);
		return;
	}
	for (at = f->function; *at; at++)
		fputc(*at == ';' ? ':' : *at, out);
}

/* "outermost;...;innermost". The caller's to free. */
static char *fold(struct trace_taking *t)
{
	char *text = NULL;
	size_t size, n, k;
	FILE *out = open_memstream(&text, &size);
	unsigned i;

	if (!out)
		return NULL;
	if (t->walk.truncated)
		fputs("[truncated]", out);
	for (i = t->walk.count; i-- > 0;) {
		const struct ins_frame *f = ins_symbols_at(t->symbols, t->walk.pc[i], i > 0, &n);

		for (k = n; k-- > 0;) {
			if (ftell(out) > 0)
				fputc(';', out);
			put_frame(out, &f[k]);
		}
	}
	return fclose(out) == 0 ? text : NULL;
}

/* Where it waits. Whether it still did when the recording ended, its events say. */
static int put_stack(struct trace_taking *t, const struct ins_fiber *fiber)
{
	char *text;
	int rc;

	if (fiber->row.state != FIBER_SUSPENDED || !fiber->stack)
		return 0;
	if (t->stacks == TRACE_STACKS) {
		t->untaken++;
		return 0;
	}
	ins_unwind(t->unwinder, fiber, &t->walk);
	text = t->walk.count ? fold(t) : NULL;
	if (!text)
		return 0;
	t->stacks++;
	rc = ins_recording_put_text(t->writer, INS_RECORDING_STACKS, fiber->row.id, text);
	free(text);
	return rc;
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

	memcpy(f.name, row->name, sizeof f.name);
	memcpy(f.object_name, row->object_name, sizeof f.object_name);
	trace_note_entry(t, row->entry);
	t->taken->fibers++;
	return ins_recording_put(t->writer, t->list, &f, sizeof f);
}

static int take_last(void *context, const struct ins_fiber *fiber)
{
	int rc = take_fiber(context, fiber);

	return rc == 0 ? put_stack(context, fiber) : rc;
}

int trace_take_fibers(struct trace_taking *t, enum ins_recording_section where, bool stacks)
{
	const struct ins_request request = {.stacks = stacks, .modules = true};
	struct ins_summary summary = {0};

	t->list = where;
	t->taken->fibers = 0;
	return ins_source_read(t->source, &request, stacks ? take_last : take_fiber, t, &summary,
			       t->error);
}

static int take_name(void *context, const struct ins_fiber *fiber)
{
	const struct fib_row *row = &fiber->row;
	struct trace_taking *t = context;
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
