/* SPDX-License-Identifier: MIT */
/*
 * frames.c - decode the frames of an answer about fibers
 *
 * The process sends rows and raw stacks; it never unwinds itself. Its memory cannot be read from
 * here, so code and unwind tables come from the files that it has mapped.
 *
 * No input is trusted: sizes are checked against the frame that carries them, and the layout is
 * checked like one read from memory. Rows of another version are longer or shorter; the fields that
 * both versions know are kept.
 */
#include "inspect/source/frames.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/text/member.h"
#include "inspect/text/read_file.h"
#include "inspect/text/escape.h"

#define MAPS_MAX    ((size_t)64 << 20)
#define FIBERS_MOST (UINT64_C(1) << 24) /* capacity of a registry (core/registry.c) */
#define EVENTS_MOST 65536u		/* per answer: the rings of a hundred runtimes */

static int bad(struct ins_frames *f, const char *what, struct ins_error *error)
{
	return ins_error_set(error, -EPROTO, "%s: the answer makes no sense: %s", f->path, what);
}

static int take_process(struct ins_frames *f, const void *payload, size_t length,
			struct ins_error *error)
{
	struct fib_wire_process p;

	if (length < sizeof p)
		return bad(f, "a short process frame", error);
	memcpy(&p, payload, sizeof p);
	/* The kernel's pid is preferred: the program may know only its pid inside a container. */
	f->source->pid = f->source->modules->pid ? f->source->modules->pid : p.pid;
	f->now = p.now;
	ins_timestamp_set_running(&f->timestamp, p.now);
	memcpy(f->source->name, p.name, sizeof f->source->name);
	f->source->name[sizeof f->source->name - 1] = 0;
	return 0;
}

static int take_layout(struct ins_frames *f, const void *payload, size_t length,
		       struct ins_error *error)
{
	const char *wrong;

	struct fib_layout *layout = &f->source->layout;

	if (length < FIB_LAYOUT_SIZE_1)
		return bad(f, "a short layout frame", error);
	memset(layout, 0, sizeof *layout);
	memcpy(layout, payload, length < sizeof *layout ? length : sizeof *layout);
	wrong = fib_layout_check(layout);
	if (wrong)
		return bad(f, wrong, error);
	/* The generic port does not say; its stacks are not walked. */
	if (layout->machine != EM_NONE)
		f->source->modules->machine =
			(struct ins_machine){(uint16_t)layout->machine, f->swapped};
	f->has_layout = true;
	return 0;
}

static int take_maps(struct ins_frames *f, const void *payload, size_t length,
		     struct ins_error *error)
{
	char *more;

	if (length > MAPS_MAX - f->mapping_bytes)
		return bad(f, "an endless list of mappings", error);
	f->mapping_bytes += length;
	f->news += length != 0;
	if (f->mapped)
		return 0;
	more = realloc(f->maps, f->maps_size + length + 1);
	if (!more)
		return ins_error_set(error, -ENOMEM, "out of memory");
	f->maps = more;
	memcpy(more + f->maps_size, payload, length);
	f->maps_size += length;
	return 0;
}

/*
 * An answer to a request without stacks carries no mappings. Then /proc is read; where that is
 * refused, spawn sites stay addresses.
 */
int ins_frames_map(struct ins_frames *f, struct ins_error *error)
{
	struct ins_modules *modules = f->source->modules;
	char path[64];
	int rc = 0;

	if (f->mapped)
		return 0;
	if (!f->maps && modules->pid) {
		snprintf(path, sizeof path, "/proc/%d/maps", (int)ins_member(modules->pid));
		if (ins_read_file(path, &f->maps, &f->maps_size) < 0)
			f->maps = NULL;
	}
	if (f->maps)
		rc = ins_modules_parse_maps(modules, f->maps, f->maps_size);
	ins_modules_sort(modules);
	free(f->maps);
	f->maps = NULL;
	f->mapped = true;
	return rc < 0 ? ins_error_set(error, rc, "out of memory") : 0;
}

/* *ret is a row of zeros, or a row of the same size that is overwritten. */
static void take_row(const unsigned char *bytes, size_t size, struct fib_row *ret)
{
	memcpy(ret, bytes, size < sizeof *ret ? size : sizeof *ret);
	ret->name[sizeof ret->name - 1] = 0;
	ret->object_name[sizeof ret->object_name - 1] = 0;
	fib_row_end_labels(ret);
}

/*
 * Count one fiber. The sender walks the records in order, so a record beyond all earlier ones is
 * new.
 */
static int count(struct ins_frames *f, uint64_t record, struct ins_error *error)
{
	const uint64_t records = f->threads ? 0 : f->source->layout.committed;

	if (!f->has_layout)
		return bad(f, "fibers before the layout", error);
	if (f->sent == (records && records < FIBERS_MOST ? records : FIBERS_MOST))
		return bad(f, "more fibers than it has records", error);
	f->sent++;
	if (record > f->furthest) {
		f->furthest = record;
		f->news++;
	}
	return 0;
}

/*
 * Pass a fiber to the callback, whole or torn. An answer may have more than was requested: the rest
 * is dropped here.
 */
static int emit(struct ins_frames *f, struct ins_fiber *fiber, struct ins_error *error)
{
	bool torn = fiber->flags != 0;
	int rc = count(f, fiber->row.record, error);

	if (rc < 0)
		return rc;
	f->torn += torn;
	if (f->request->id && fiber->row.id != f->request->id)
		return 0;
	rc = ins_frames_map(f, error);
	if (rc < 0)
		return rc;
	if (!f->request->stacks) {
		fiber->stack = NULL;
		fiber->stack_size = 0;
		fiber->flags = 0;
	}
	f->summary->shown++;
	f->torn_shown += torn;
	return f->fn ? f->fn(f->context, fiber) : bad(f, "fibers among events", error);
}

static int take_rows(struct ins_frames *f, const unsigned char *payload, size_t length,
		     struct ins_error *error)
{
	struct ins_fiber fiber = {.now = f->now};
	struct fib_wire_rows rows;
	uint32_t i;
	int rc;

	if (length < sizeof rows)
		return bad(f, "a short frame of rows", error);
	memcpy(&rows, payload, sizeof rows);
	if (!rows.row_size || rows.count > (length - sizeof rows) / rows.row_size)
		return bad(f, "more rows than bytes", error);
	for (i = 0; i < rows.count; i++) {
		take_row(payload + sizeof rows + (size_t)i * rows.row_size, rows.row_size,
			 &fiber.row);
		rc = emit(f, &fiber, error);
		if (rc)
			return rc;
	}
	return 0;
}

/* Take the time of the copy from the program; older programs do not send it. */
static void take_time(const struct fib_wire_stack *s, struct ins_fiber *fiber)
{
	const uint32_t took = s->flags >> FIB_WIRE_STACK_TOOK;

	if (!took)
		return;
	fiber->now += (int64_t)s->after * 1000;
	if (took < FIB_WIRE_STACK_LONG)
		fiber->until = fiber->now + ((int64_t)took + 1) * 1000;
}

static int take_stack(struct ins_frames *f, const unsigned char *payload, size_t length,
		      struct ins_error *error)
{
	struct ins_fiber fiber = {.now = f->now, .registers.machine = f->source->layout.machine};
	struct fib_wire_stack s;

	if (length < sizeof s)
		return bad(f, "a short frame of a stack", error);
	memcpy(&s, payload, sizeof s);
	if (s.row_size > length - sizeof s || s.stack_size > length - sizeof s - s.row_size)
		return bad(f, "a stack larger than its frame", error);
	take_row(payload + sizeof s, s.row_size, &fiber.row);
	take_time(&s, &fiber);
	if (s.stack_size) {
		fiber.stack = payload + sizeof s + s.row_size;
		fiber.stack_size = s.stack_size;
	}
	if (s.flags & FIB_WIRE_STACK_MOVING)
		fiber.flags |= INS_FIBER_MOVING;
	if (s.flags & FIB_WIRE_STACK_CUT)
		fiber.flags |= INS_FIBER_CUT;
	if (s.flags & FIB_WIRE_STACK_GONE)
		fiber.flags |= INS_FIBER_GONE;
	return emit(f, &fiber, error);
}

static int take_event(struct ins_frames *f, const void *payload, size_t length,
		      struct ins_error *error)
{
	struct ins_event event;
	int rc = f->has_layout ? ins_frames_map(f, error)
			       : bad(f, "events before the layout", error);

	if (rc < 0 || !f->event_fn)
		return rc;
	if (!ins_event_take(payload, length, &event))
		return bad(f, "an event larger than its frame", error);
	if (f->sent == EVENTS_MOST)
		return bad(f, "an endless list of events", error);
	f->news++;
	ins_timestamp_convert(&f->timestamp, event.e.began, &event.ago, &event.wall);
	f->sent++;
	f->summary->shown++;
	return f->event_fn(f->context, &event);
}

static int no_such_fiber(const struct ins_frames *f, struct ins_error *error)
{
	return ins_error_set(error, -ESRCH, "fiber %llu: no such fiber in process %d%s%s",
			     (unsigned long long)f->request->id, (int)f->source->pid,
			     f->file ? " when it was written to " : "", f->file ? f->path : "");
}

/*
 * Of the problems that END counts, those that concern the caller, which may have asked for less
 * than was sent.
 */
static uint64_t problems_of(const struct ins_frames *f, const struct fib_wire_end *end)
{
	const uint64_t passed = f->source->passed;
	const uint64_t all = f->summary->shown != f->sent ? f->torn_shown : end->problems;

	if (f->request->stacks)
		return all - (passed < all ? passed : all);
	if (f->summary->shown != f->sent)
		return 0;
	return end->problems - (f->torn < end->problems ? f->torn : end->problems);
}

static int take_end(struct ins_frames *f, const void *payload, size_t length,
		    struct ins_error *error)
{
	struct fib_wire_end end;
	uint64_t problems;
	bool one;

	if (length < sizeof end)
		return bad(f, "a short end", error);
	memcpy(&end, payload, sizeof end);
	f->summary->total = end.total;
	f->summary->sampled_ns = end.sampled_ns;
	if (end.shown != f->sent)
		return bad(f, "it counts other fibers than it sent", error);
	if (f->request->id && !f->summary->shown)
		return no_such_fiber(f, error);
	problems = problems_of(f, &end);
	one = problems == 1;
	if (problems && f->event_fn)
		ins_problems_add(&f->source->problems, "%llu event%s missing: %s being written",
				 (unsigned long long)problems, one ? " is" : "s are",
				 one ? "it was" : "they were");
	else if (problems)
		ins_problems_add(
			&f->source->problems,
			"%llu fiber%s incomplete: what %s for, %s labels or %s stack could not be "
			"read",
			(unsigned long long)problems, one ? " is" : "s are",
			one ? "it waits" : "they wait", one ? "its" : "their",
			one ? "its" : "their");
	return 0;
}

static int is_error(int32_t number)
{
	return number < 0 && number > -4096;
}

static int take_refused(struct ins_frames *f, const void *payload, size_t length,
			struct ins_error *error)
{
	char call[2 * sizeof(((struct fib_wire_refused *)0)->call)];
	char lacks[2 * sizeof(((struct fib_wire_refused *)0)->lacks)];
	struct fib_wire_refused r;

	if (length < sizeof r)
		return bad(f, "a short frame of what is refused", error);
	memcpy(&r, payload, sizeof r);
	r.call[sizeof r.call - 1] = r.lacks[sizeof r.lacks - 1] = 0;
	ins_problems_add(&f->source->problems,
			 "the program's sandbox refuses %s (%s): %s is unknown",
			 ins_escape(r.call, call, sizeof call),
			 strerror(is_error(r.error) ? -r.error : EPERM),
			 ins_escape(r.lacks, lacks, sizeof lacks));
	return 0;
}

static int take_error(struct ins_frames *f, const void *payload, size_t length,
		      struct ins_error *error)
{
	struct fib_wire_error e;

	if (length < sizeof e)
		return bad(f, "a short error", error);
	memcpy(&e, payload, sizeof e);
	e.text[sizeof e.text - 1] = 0;
	if (e.error == -ESRCH && f->request->id)
		return no_such_fiber(f, error);
	return ins_error_set(error, is_error(e.error) ? e.error : -EPROTO, "%s: %s", f->path,
			     e.text[0]		 ? e.text
			     : is_error(e.error) ? strerror(-e.error)
						 : "it refused without a reason");
}

int ins_frames_take(struct ins_frames *f, const struct fib_wire_header *header, const void *payload,
		    struct ins_error *error)
{
	size_t length = header->length;

	switch (header->type) {
	case FIB_WIRE_PROCESS:
		return take_process(f, payload, length, error);
	case FIB_WIRE_LAYOUT:
		return take_layout(f, payload, length, error);
	case FIB_WIRE_MAPS:
		return take_maps(f, payload, length, error);
	case FIB_WIRE_ROWS:
		return take_rows(f, payload, length, error);
	case FIB_WIRE_STACKS:
		return take_stack(f, payload, length, error);
	case FIB_WIRE_EVENT:
		return take_event(f, payload, length, error);
	case FIB_WIRE_ERROR:
		return take_error(f, payload, length, error);
	case FIB_WIRE_REFUSED:
		return take_refused(f, payload, length, error);
	case FIB_WIRE_END:
		f->done = true;
		return take_end(f, payload, length, error);
	default:
		return 0; /* from a later version: skipped */
	}
}

void ins_frames_init(struct ins_frames *f, struct ins_source *source, const char *path)
{
	memset(f, 0, sizeof *f);
	f->source = source;
	f->path = path;
}

void ins_frames_free(struct ins_frames *f)
{
	free(f->maps);
	f->maps = NULL;
}

void ins_frames_begin(struct ins_frames *f, const struct ins_request *request, ins_fiber_fn *fn,
		      void *context, struct ins_summary *summary)
{
	f->done = false;
	f->sent = f->torn = f->torn_shown = f->furthest = 0;
	f->mapping_bytes = 0;
	f->request = request;
	f->fn = fn;
	f->event_fn = NULL;
	f->context = context;
	f->summary = summary;
}

void ins_frames_begin_events(struct ins_frames *f, ins_event_fn *fn, void *context,
			     struct ins_summary *summary)
{
	static const struct ins_request all;

	ins_frames_begin(f, &all, NULL, context, summary);
	/* An answer about events alone does not repeat the time. */
	ins_timestamp_renew(&f->timestamp);
	f->event_fn = fn;
}
