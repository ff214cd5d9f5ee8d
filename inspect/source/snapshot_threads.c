/* SPDX-License-Identifier: MIT */
/*
 * snapshot_threads.c - write the threads of a process into a snapshot
 *
 * The process does not send its threads: they are read from its memory, as fibertrace does. They are
 * read twice, before the fibers and after them. A thread that slept in one wait all the time waited
 * at each moment at which a fiber was read. Its row says so by an age.
 */
#include "inspect/source/snapshot_threads.h"

#include <errno.h>
#include <stdlib.h>

#include <fiber/fiber.h>

#include "inspect/text/duration.h"
#include "wire/wire.h"

#define STACK_MOST (32u << 10) /* bytes of a stack that are kept */

struct ins_snapshot_look {
	uint64_t id, seq, object, holder;
	uint8_t kind;
};

static struct ins_snapshot_look look_of(const struct fib_row *row)
{
	return (struct ins_snapshot_look){.id = row->id,
					  .seq = row->seq,
					  .object = row->wait_object,
					  .holder = row->holder,
					  .kind = row->wait_kind};
}

static int note(void *context, const struct ins_fiber *thread)
{
	struct ins_snapshot_looks *l = context;
	struct ins_snapshot_look *all = realloc(l->all, (l->count + 1) * sizeof *all);

	if (!all)
		return -ENOMEM;
	l->all = all;
	all[l->count++] = look_of(&thread->row);
	return 0;
}

int ins_snapshot_look(struct ins_source *source, struct ins_snapshot_looks *ret)
{
	static const struct ins_request request;
	struct ins_summary summary;
	struct ins_error error;

	*ret = (struct ins_snapshot_looks){.at = ins_duration_now()};
	return ins_source_read(source, &request, note, ret, &summary, &error);
}

void ins_snapshot_looks_free(struct ins_snapshot_looks *looks)
{
	free(looks->all);
	*looks = (struct ins_snapshot_looks){0};
}

static int by_id(const void *a, const void *b)
{
	const struct ins_snapshot_look *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* Whether the thread has slept in the same wait since the first look. */
static bool slept(const struct ins_snapshot_looks *looks, const struct fib_row *row)
{
	const struct ins_snapshot_look now = look_of(row), *then;

	/* The rows are sorted. */
	then = looks->count ? bsearch(&now, looks->all, looks->count, sizeof now, by_id) : NULL;
	return row->state == FIBER_SUSPENDED && then && then->seq == now.seq &&
	       then->kind == now.kind && then->object == now.object && then->holder == now.holder;
}

struct writing {
	ins_snapshot_put_fn *put;
	void *context;
	const struct ins_snapshot_looks *looks;
	struct fib_wire_end end;
};

static int put(struct writing *w, const void *bytes, size_t size)
{
	return w->put(w->context, bytes, size);
}

static int put_row(void *context, const struct ins_fiber *thread)
{
	struct writing *w = context;
	struct fib_row row = thread->row;
	const size_t size = thread->stack_size < STACK_MOST ? thread->stack_size : STACK_MOST;
	struct fib_wire_stack stack = {.row_size = sizeof row, .stack_size = (uint32_t)size};
	const struct fib_wire_header header = {
		.magic = FIB_WIRE_MAGIC,
		.version = FIB_WIRE_VERSION,
		.type = FIB_WIRE_STACKS,
		.length = (uint32_t)(sizeof stack + sizeof row + size)};
	int rc;

	if (slept(w->looks, &row))
		row.age = ins_duration_now() - w->looks->at;
	if (thread->flags & INS_FIBER_MOVING)
		stack.flags |= FIB_WIRE_STACK_MOVING;
	if (thread->flags & INS_FIBER_CUT || size < thread->stack_size)
		stack.flags |= FIB_WIRE_STACK_CUT;
	if (thread->flags & INS_FIBER_GONE)
		stack.flags |= FIB_WIRE_STACK_GONE;
	w->end.total++;
	w->end.shown++;
	rc = put(w, &header, sizeof header);
	if (rc == 0)
		rc = put(w, &stack, sizeof stack);
	if (rc == 0)
		rc = put(w, &row, sizeof row);
	return rc == 0 && size ? put(w, thread->stack, size) : rc;
}

int ins_snapshot_put_threads(ins_snapshot_put_fn *put_fn, void *context, struct ins_source *source,
			     const struct ins_snapshot_looks *looks)
{
	static const struct ins_request request = {.stacks = true};
	struct writing w = {.put = put_fn, .context = context, .looks = looks};
	const struct fib_wire_header header = {.magic = FIB_WIRE_MAGIC,
					       .version = FIB_WIRE_VERSION,
					       .type = FIB_WIRE_END,
					       .length = sizeof w.end};
	struct ins_summary summary;
	struct ins_error error;
	int rc = ins_source_read(source, &request, put_row, &w, &summary, &error);

	w.end.sampled_ns = summary.sampled_ns;
	if (rc == 0)
		rc = put(&w, &header, sizeof header);
	return rc == 0 ? put(&w, &w.end, sizeof w.end) : rc;
}
