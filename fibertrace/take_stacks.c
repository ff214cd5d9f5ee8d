/* SPDX-License-Identifier: MIT */
/*
 * take_stacks.c - sample the stacks of waiting fibers
 *
 * Events say how long a fiber waited for what; stacks say where. A stack that is seen during a wait
 * belongs to that wait. So a sample has the two times between which the stack was seen, and the
 * start of the wait; inspect/recording/sample_match.h finds the wait. An exited fiber or a finished
 * wait is seen only by an earlier look, so there is a look each second.
 *
 * A look costs the program's service thread some microseconds per fiber, within its budget. To
 * leave time for the rings, the pause between two looks is at least PAUSE times as long as the last
 * look.
 *
 * Many fibers are in few places; each place is in the file once.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/fiber.h>

#include "fibertrace/taking.h"
#include "inspect/render/render.h"
#include "inspect/symbols/shown.h"
#include "inspect/text/duration.h"

#define PAUSE 4

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

/* "outermost;...;innermost". The caller frees it. */
static char *fold(struct trace_taking *t)
{
	char *text = NULL;
	size_t size, k;
	FILE *out = open_memstream(&text, &size);
	unsigned i;

	if (!out)
		return NULL;
	if (t->walk.truncated)
		fputs("[truncated]", out);
	for (i = t->walk.count; i-- > 0;) {
		const struct ins_shown at = ins_shown_at(t->symbols, &t->walk, i);

		for (k = at.end; k-- > at.first;) {
			if (ftell(out) > 0)
				fputc(';', out);
			put_frame(out, &at.frames[k]);
		}
	}
	return fclose(out) == 0 ? text : NULL;
}

/* A place: the addresses of the shown frames. */
struct place {
	unsigned count;
	uint64_t pc[INS_WALK_MAX];
};

static void find_place(const struct ins_walk *walk, struct place *ret)
{
	unsigned i;

	ret->count = 0;
	for (i = 0; i < walk->count; i++)
		if (!ins_walk_hidden(walk, i))
			ret->pc[ret->count++] = walk->pc[i];
}

/* Places of the same hash get consecutive keys. */
static uint64_t hash_of(const struct place *place, bool truncated)
{
	uint64_t h = UINT64_C(14695981039346656037) + truncated;
	unsigned i;

	for (i = 0; i < place->count; i++)
		h = (h ^ place->pc[i]) * UINT64_C(1099511628211);
	return h;
}

/* Write a new place to the file. */
static int add_shape(struct trace_taking *t, size_t number, const struct place *place)
{
	const size_t room = t->shape_room ? t->shape_room * 2 : 256;
	const size_t size = place->count * sizeof place->pc[0];
	struct trace_shape *s;
	char *text;
	int rc;

	if (number == t->shape_room) {
		s = realloc(t->shape, room * sizeof *s);
		if (!s)
			return -ENOMEM;
		t->shape = s;
		t->shape_room = room;
	}
	s = &t->shape[number];
	*s = (struct trace_shape){0, malloc(size)};
	text = s->pc ? fold(t) : NULL;
	if (!text)
		return -ENOMEM;
	memcpy(s->pc, place->pc, size);
	s->count = place->count;
	rc = ins_recording_put_text(t->writer, FIB_RECORDING_SHAPES, number + 1, text);
	free(text);
	return rc;
}

/* The number of the walk's place; 0: too many places. */
static int shape_of(struct trace_taking *t, uint64_t *ret)
{
	struct place place;
	size_t number;
	uint64_t hash, k;
	int rc;

	*ret = 0;
	find_place(&t->walk, &place);
	hash = hash_of(&place, t->walk.truncated);
	for (k = 0; t->shapes.count < TRACE_SHAPES; k++) {
		rc = ins_pairs_add(&t->shapes, hash, k << 1 | t->walk.truncated, &number);
		if (rc == 1)
			rc = add_shape(t, number, &place);
		if (rc < 0)
			return rc;
		*ret = number + 1;
		if (t->shape[number].count == place.count &&
		    memcmp(t->shape[number].pc, place.pc, place.count * sizeof place.pc[0]) == 0)
			return 0;
	}
	return 0;
}

void trace_drop_shapes(struct trace_taking *t)
{
	size_t i;

	for (i = 0; i < t->shapes.count && i < t->shape_room; i++)
		free(t->shape[i].pc);
	free(t->shape);
	ins_pairs_drop(&t->shapes);
}

static int walk(struct trace_taking *t, const struct ins_fiber *fiber)
{
	if (!t->unwinder && ins_unwinder_new(t->source, &t->unwinder) < 0)
		return -ENOMEM;
	if (!t->symbols && ins_symbols_new(t->source->modules, &t->symbols) < 0)
		return -ENOMEM;
	ins_unwinder_hide(t->unwinder, t->how->hide);
	ins_unwind(t->unwinder, fiber, &t->walk);
	return 0;
}

int trace_put_sample(struct trace_taking *t, const struct ins_fiber *fiber)
{
	const struct fib_row *row = &fiber->row;
	struct fib_recording_sample sample = {
		.fiber = row->id,
		.wait_object = row->wait_object,
		.wait_arg = row->wait_arg,
		.since = fiber->now - row->age,
		.from = fiber->now,
		/* An older program sends no time: use the time of arrival. */
		.to = fiber->until ? fiber->until : trace_now(),
		.wait_kind = row->wait_kind,
	};
	int rc;

	t->look.fibers++;
	if (row->state != FIBER_SUSPENDED || !fiber->stack)
		return 0;
	rc = trace_note_name(t, row);
	if (rc == 0)
		rc = walk(t, fiber);
	if (rc < 0 || !t->walk.count)
		return rc;
	if (t->samples < TRACE_SAMPLES)
		rc = shape_of(t, &sample.stack);
	if (rc < 0)
		return rc;
	if (!sample.stack) {
		t->look.left++;
		t->untaken++;
		return 0;
	}
	t->samples++;
	t->look.stacks++;
	return ins_recording_put(t->writer, FIB_RECORDING_SAMPLES, &sample, sizeof sample);
}

void trace_begin_look(struct trace_taking *t)
{
	t->look = (struct fib_recording_look){.from = trace_now()};
}

/*
 * A random time from 75 % to 125 % of every. With a fixed interval a program of the same period
 * would always be seen in the same place.
 */
static int64_t about(int64_t every)
{
	static uint64_t dice;

	dice ^= (uint64_t)trace_now();
	dice *= UINT64_C(0x9e3779b97f4a7c15);
	return every / 4 * 3 + (int64_t)((dice >> 16) % (uint64_t)(every / 2 + 1));
}

int trace_end_look(struct trace_taking *t)
{
	const int64_t now = trace_now(), paused = now + PAUSE * (now - t->look.from);
	char text[32];

	t->look.to = now;
	t->stacks_at = t->look.from + about(t->how->stacks_every);
	if (t->stacks_at < paused)
		t->stacks_at = paused;
	t->taken->looks++;
	if (t->how->verbose)
		fprintf(stderr, "look %zu: %" PRIu64 " of %" PRIu64 " fiber%s %s a stack, %s\n",
			t->taken->looks, t->look.stacks, t->look.fibers,
			t->look.fibers == 1 ? "" : "s", t->look.stacks == 1 ? "has" : "have",
			ins_duration_text(now - t->look.from, text, sizeof text));
	return ins_recording_put(t->writer, FIB_RECORDING_LOOKS, &t->look, sizeof t->look);
}

static int take_stack(void *context, const struct ins_fiber *fiber)
{
	int rc = trace_put_sample(context, fiber);

	return rc == 0 ? trace_read_rings(context) : rc;
}

int trace_look_at_stacks(struct trace_taking *t)
{
	static const struct ins_request request = {.stacks = true, .modules = true};
	struct ins_summary summary = {0};
	int rc;

	if (trace_now() < t->stacks_at)
		return 0;
	trace_begin_look(t);
	rc = ins_source_read(t->source, &request, take_stack, t, &summary, t->error);
	return rc == 0 ? trace_end_look(t) : rc;
}
