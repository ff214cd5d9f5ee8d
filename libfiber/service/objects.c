/* SPDX-License-Identifier: MIT */
/*
 * objects.c - read the wait objects of many fibers together
 *
 * A wait object is in the program's memory. Only the kernel can read it without the risk of a
 * fault, and one system call per fiber would be the largest cost of a list of 100,000 fibers. So
 * the objects of a piece of the list are copied with one call, and each is then decoded from its
 * copy by the usual code.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "core/registry.h"
#include "os/os.h"
#include "service/sample.h"

#define ROOM	     128u /* an object's name and all that is read of it are within this many bytes */
#define WORTH_A_PIPE 16u /* reading this many objects takes as long as opening and closing one */

struct copy {
	uint64_t address;
	size_t size;
	struct fib_os_pipe *pipe;
	unsigned char bytes[ROOM];
};

static uint64_t least(struct fib_layout_field a, struct fib_layout_field b)
{
	if (!a.size || !b.size)
		return a.size ? a.offset : b.offset;
	return a.offset < b.offset ? a.offset : b.offset;
}

static uint64_t end_of(struct fib_layout_field f)
{
	return f.size ? (uint64_t)f.offset + f.size : 0;
}

/* Of a wait for a call on another thread, what is needed is not in the object. */
static void find_worker(const struct fib_row *row, struct copy *ret)
{
	ret->address = row->wait_arg + fiber_registry.worker.offset;
	ret->size = row->wait_arg ? fiber_registry.worker.size : 0;
}

/* Of a wait for descriptors alone, the first of them. */
static void find_polled(const struct fib_row *row, uint32_t count, struct copy *ret)
{
	ret->address = row->polled;
	ret->size = (count < FIB_ROW_POLLED ? count : FIB_ROW_POLLED) * sizeof(struct pollfd);
}

/* The part of the row's object that is needed; size 0: none. */
static void find(const struct fib_row *row, struct copy *ret)
{
	const struct fib_layout_object *o;
	uint64_t from, to;

	ret->size = 0;
	if (row->polled) {
		find_polled(row, fib_row_polled(row), ret);
		return;
	}
	if (!row->wait_object || row->wait_kind >= FIB_LAYOUT_WAITS)
		return;
	if (row->wait_kind == FIB_WAIT_OFFLOAD) {
		find_worker(row, ret);
		return;
	}
	o = &fiber_registry.objects[row->wait_kind];
	from = least(o->name, o->holder);
	to = end_of(o->name) > end_of(o->holder) ? end_of(o->name) : end_of(o->holder);
	if (fib_row_may_be_read(row->wait_kind) && end_of(fiber_registry.readers) > to)
		to = end_of(fiber_registry.readers);
	if (end_of(fiber_registry.waiters[row->wait_kind]) > to)
		to = end_of(fiber_registry.waiters[row->wait_kind]);
	if (end_of(fiber_registry.touchers[row->wait_kind]) > to)
		to = end_of(fiber_registry.touchers[row->wait_kind]);
	if (to <= from || to - from > ROOM)
		return;
	ret->address = row->wait_object + from;
	ret->size = (size_t)(to - from);
}

/* Read from the copy, or from memory where the copy does not reach. */
static int read_copy(void *reader, uint64_t address, void *buf, size_t size)
{
	const struct copy *copy = reader;
	uint64_t at = address - copy->address;

	if (at > copy->size || size > copy->size - at)
		return fib_os_peek_through(copy->pipe, address, buf, size);
	memcpy(buf, copy->bytes + at, size);
	return 0;
}

void fib_sample_objects(struct fib_row rows[], unsigned n, struct fib_os_pipe *pipe, int ret_rcs[])
{
	struct fib_os_piece pieces[FIB_SAMPLE_OBJECTS];
	struct copy copies[FIB_SAMPLE_OBJECTS];
	unsigned of[FIB_SAMPLE_OBJECTS];
	unsigned i, count = 0;

	for (i = 0; i < n; i++) {
		struct copy *copy = &copies[count];

		ret_rcs[i] = 0;
		find(&rows[i], copy);
		if (!copy->size)
			continue;
		copy->pipe = pipe;
		pieces[count] = (struct fib_os_piece){copy->address, copy->bytes, copy->size, 0};
		of[count++] = i;
	}
	if (count >= WORTH_A_PIPE && pipe->fds[0] < 0)
		fib_os_pipe_open(pipe);
	fib_os_peek_many(pieces, count, pipe);
	for (i = 0; i < count; i++) {
		struct fib_row *row = &rows[of[i]];

		ret_rcs[of[i]] = pieces[i].rc < 0 ? pieces[i].rc
						  : fib_row_resolve(&fiber_registry, row, read_copy,
								    &copies[i]);
	}
}
