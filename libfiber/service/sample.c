/* SPDX-License-Identifier: MIT */
/*
 * sample.c - copy a fiber's record and stack consistently without stopping it
 *
 * A fiber may be resumed and suspended while its record is copied, and the record may pass to
 * another fiber. Both can be seen: a switch changes seq, a new owner has another id. So: read id
 * and seq, copy, read them again; if they are equal, the copy is of one moment. If that fails in
 * several tries, the fiber is reported as running, with the fields of the last copy.
 *
 * Records are never unmapped and are read directly. Stacks and wait objects may be unmapped at any
 * time; the kernel copies those and returns an error if they are gone.
 */
#include "service/sample.h"

#include <errno.h>
#include <string.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "core/registry.h"
#include "os/os.h"
#include "wire/wire.h"

#define TRIES	     16
#define DETAIL_TRIES 4

/* A row needs the fields up to and including reads_more. */
#define COPIED                                                                        \
	((offsetof(struct fiber, reads_more) + sizeof(uint64_t)) / sizeof(uint64_t) * \
	 sizeof(uint64_t))
_Static_assert(COPIED % sizeof(uint64_t) == 0, "copied in words");
_Static_assert(FIB_READS == FIB_ROW_READS, "a row has all read locks of a record");

fib_unwatched static void copy_record(const struct fiber *f, uint64_t *to)
{
	const volatile uint64_t *from = (const volatile void *)f;
	size_t i;

	for (i = 0; i < COPIED / sizeof *to; i++)
		to[i] = from[i];
}

static uint64_t read_id(const struct fiber *f)
{
	/* A reader that sees an id sees what was written before the id was set. */
	return fib_observe(&f->id);
}

/*
 * Whether f still is at seq and still is that fiber. seq is read first: if another owner's first
 * seq has the same value, the changed id is seen.
 */
static bool unmoved(struct fiber *f, uint64_t seq, uint64_t id)
{
	/* pairs: record.seq -- the copy was read before seq is read again. */
	fib_fence_acquire();
	/* pairs: record.owner */
	return fib_load_acquire(&f->seq) == seq && read_id(f) == id;
}

union record_copy {
	uint64_t words[sizeof(struct fiber) / 8];
	unsigned char bytes[sizeof(struct fiber)]; /* a row needs none of the bytes not copied */
};

static int64_t copied_since(const union record_copy *copy)
{
	int64_t since;

	memcpy(&since, copy->bytes + offsetof(struct fiber, since), sizeof since);
	return since;
}

/*
 * One try. Returns whether the copy is of one moment, with the id and seq it is of. Making a fiber
 * runnable does not change seq. It shows in `since`, which comes before the counters in the record
 * and is copied first; or, if the waker was stopped before it set `since`, in the sum (row.c).
 */
static bool copy_once(struct fiber *f, union record_copy *copy, uint64_t *ret_id, uint64_t *ret_seq)
{
	*ret_id = read_id(f);
	/* pairs: record.seq -- the registers were saved before it was set. */
	*ret_seq = fib_load_acquire(&f->seq);
	copy_record(f, copy->words);
	/* pairs: record.waited */
	return unmoved(f, *ret_seq, *ret_id) && fib_load(&f->since) == copied_since(copy);
}

static bool decode(const struct fiber *f, const union record_copy *copy, int64_t now,
		   struct fib_row *ret)
{
	return fib_row_decode(&fiber_registry, copy->bytes, (uint64_t)(uintptr_t)f, now, ret);
}

/* No consistent copy was possible: report the fiber as running, which an odd seq means. */
static bool decode_moving(const struct fiber *f, union record_copy *copy, int64_t now,
			  struct fib_row *ret)
{
	uint64_t seq;

	memcpy(&seq, copy->bytes + offsetof(struct fiber, seq), sizeof seq);
	seq |= 1;
	memcpy(copy->bytes + offsetof(struct fiber, seq), &seq, sizeof seq);
	return decode(f, copy, now, ret);
}

void fib_sample_prefetch(uint64_t index)
{
	const char *record = (const char *)fib_registry_at(index);
	size_t i;

	for (i = 0; i < COPIED; i += FIB_CACHE_LINE)
		__builtin_prefetch(record + i, 0, 0);
}

uint64_t fib_sample_id(uint64_t index)
{
	return read_id(fib_registry_at(index));
}

bool fib_sample_row(uint64_t index, int64_t now, struct fib_row *ret)
{
	struct fiber *f = fib_registry_at(index);
	union record_copy copy;
	uint64_t id, seq;
	int i;

	for (i = 0; i < TRIES; i++) {
		bool still = copy_once(f, &copy, &id, &seq);

		if (!id)
			return false;
		if (still)
			return decode(f, &copy, now, ret);
	}
	return decode_moving(f, &copy, now, ret);
}

static int peek(void *pipe, uint64_t address, void *buf, size_t size)
{
	return pipe ? fib_os_peek_through(pipe, address, buf, size)
		    : fib_os_peek(address, buf, size);
}

static int resolve(struct fib_row *row, struct fib_sample_object *last)
{
	if (!fib_row_has_object(row))
		return 0;
	/* Calls of one function on other threads have the same object, and each has a thread of its own. */
	if (row->polled || last->row.wait_object != row->wait_object ||
	    last->row.wait_kind != row->wait_kind || row->wait_kind == FIB_WAIT_OFFLOAD) {
		last->row.wait_object = row->wait_object;
		last->row.wait_kind = row->wait_kind;
		last->row.wait_arg = row->wait_arg;
		last->row.polled = row->polled;
		last->row.holder = last->row.readers = 0;
		last->row.toucher = 0;
		memset(last->row.object_name, 0, sizeof last->row.object_name);
		last->rc = fib_row_resolve(&fiber_registry, &last->row, peek, last->pipe);
	}
	row->holder = last->row.holder;
	row->readers = last->row.readers;
	row->flags |= last->row.flags & FIB_ROW_FORGOTTEN;
	row->toucher = last->row.toucher;
	memcpy(row->object_name, last->row.object_name, sizeof row->object_name);
	return last->rc;
}

static int64_t high_water(const struct fib_row *row, int pagemap)
{
	const size_t size = (size_t)row->stack_size;
	int64_t deepest = -ENOSYS;

	if (pagemap >= 0)
		deepest = fib_os_high_water_by(pagemap, row->stack_low, size);
	return deepest < 0 ? fib_os_high_water(row->stack_low, size) : deepest;
}

int fib_sample_extras(struct fib_row *row, struct fib_os_pipe *pipe, int pagemap, unsigned wanted)
{
	int64_t deepest = 0;
	int rc = 0;

	/* A dead fiber's stack may belong to another fiber by now. */
	if ((wanted & FIB_WIRE_WANT_HIGH_WATER) && row->state != FIBER_DEAD && row->stack_low &&
	    row->stack_size) {
		deepest = high_water(row, pagemap);
		if (deepest >= 0)
			row->stack_high_water = (uint64_t)deepest;
	}
	if (wanted & FIB_WIRE_WANT_LABELS)
		rc = fib_row_labels(row, peek, pipe);
	else if (wanted &
		 FIB_WIRE_WANT_READS) /* which stand behind the labels: these are sent too */
		memset(row->label, 0, sizeof row->label);
	/* Pages that were unmapped meanwhile are not reported. */
	return rc == 0 && fib_os_is_refusal((int)deepest) ? (int)deepest : rc;
}

int fib_sample_details(struct fib_row *row, struct fib_sample_object *last, unsigned wanted)
{
	int rc = resolve(row, last);
	int extras = fib_sample_extras(row, last->pipe, last->pipe ? last->pagemap : -1, wanted);

	return rc < 0 ? rc : extras;
}

bool fib_sample_current(const struct fib_row *row)
{
	struct fiber *f = (struct fiber *)(uintptr_t)row->record;

	return unmoved(f, row->seq, row->id) &&
	       ((row->seq & 1) || fib_load(&f->state) == row->state);
}

void fib_sample_forget_object(struct fib_row *row)
{
	row->holder = row->readers = 0;
	row->flags &= (uint8_t)~FIB_ROW_FORGOTTEN;
	row->toucher = 0;
	memset(row->object_name, 0, sizeof row->object_name);
}

/*
 * The object's data counts only while the fiber waits for it: once freed, its memory may hold
 * something else or be unmapped.
 */
bool fib_sample_fiber(uint64_t index, int64_t now, struct fib_sample_object *last,
		      struct fib_row *ret, int *ret_rc)
{
	int i;

	for (i = 0; i < DETAIL_TRIES; i++) {
		if (!fib_sample_row(index, now, ret))
			return false;
		*ret_rc = fib_sample_details(ret, last, FIB_WIRE_WANT_ALL);
		if (!fib_row_has_object(ret) || fib_sample_current(ret))
			return true;
		*last = (struct fib_sample_object){.pipe = last->pipe, .pagemap = last->pagemap};
	}
	fib_sample_forget_object(ret);
	*ret_rc = 0;
	return true;
}

fib_unwatched static const struct fib_sched *read_sched(const struct fiber *f)
{
	return *(struct fib_sched *const volatile *)&f->sched;
}

const struct fib_sched *fib_sample_sched(const struct fib_row *row)
{
	struct fiber *f = (struct fiber *)(uintptr_t)row->record;
	const struct fib_sched *sched = read_sched(f);

	/* sched was read before the id is read now. */
	fib_fence_acquire();
	return read_id(f) == row->id ? sched : NULL;
}

/*
 * Copy the stack for a consistent record. True: the record is still at the same moment afterwards.
 */
static bool copy_stack(struct fiber *f, struct fib_os_pipe *pipe, const struct fib_row *row,
		       void *buf, uint32_t size, uint32_t *flags)
{
	int rc = peek(pipe, row->sp, buf, size);

	if (!unmoved(f, row->seq, row->id))
		return false;
	if (rc < 0)
		*flags = FIB_WIRE_STACK_GONE;
	return true;
}

/* *ret_written: the most that was written to buf. */
static bool sample_stack(uint64_t index, int64_t now, struct fib_os_pipe *pipe, struct fib_row *row,
			 void *buf, size_t size, uint32_t *ret_size, uint32_t *ret_flags,
			 uint32_t *ret_written)
{
	struct fiber *f = fib_registry_at(index);
	union record_copy copy;
	uint64_t id, seq;
	int i;

	*ret_size = *ret_written = 0;
	for (i = 0; i < TRIES; i++) {
		bool still = copy_once(f, &copy, &id, &seq);
		bool cut;
		uint32_t n;

		if (!id)
			return false;
		if (!still || (seq & 1))
			continue;
		if (!decode(f, &copy, now, row))
			return false;
		*ret_flags = 0;
		if (!fib_row_walkable(row))
			return true;
		cut = row->stack_used > size;
		n = (uint32_t)(cut ? size : row->stack_used);
		if (n > *ret_written)
			*ret_written = n;
		if (!copy_stack(f, pipe, row, buf, n, ret_flags))
			continue;
		*ret_size = *ret_flags ? 0 : n;
		if (*ret_size && cut)
			*ret_flags = FIB_WIRE_STACK_CUT;
		return true;
	}
	*ret_flags = FIB_WIRE_STACK_MOVING;
	return decode_moving(f, &copy, now, row);
}

bool fib_sample_stack(uint64_t index, int64_t now, struct fib_os_pipe *pipe, struct fib_row *row,
		      void *buf, size_t size, uint32_t *ret_size, uint32_t *ret_flags)
{
	uint32_t written;
	const bool alive =
		sample_stack(index, now, pipe, row, buf, size, ret_size, ret_flags, &written);

	/* What is not returned is forgotten: see peer.c. */
	if (written > *ret_size)
		memset((char *)buf + *ret_size, 0, written - *ret_size);
	return alive;
}
