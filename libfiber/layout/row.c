/* SPDX-License-Identifier: MIT */
/*
 * row.c - decode a registry record
 *
 * The bytes come from a process that may be corrupt, so no value is used as an index or a length
 * before it was checked. Fields are fetched by offset and size, never by a C struct, because the
 * reader and the program may be of different versions.
 */
#include "layout/row.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include <fiber/fiber.h>

static uint64_t field(const struct fib_layout *layout, const void *bytes,
		      enum fib_layout_field_id id)
{
	struct fib_layout_field f = layout->fields[id];
	const unsigned char *at = (const unsigned char *)bytes + f.offset;
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;

	switch (f.size) {
	case 8:
		memcpy(&u64, at, sizeof u64);
		return u64;
	case 4:
		memcpy(&u32, at, sizeof u32);
		return u32;
	case 2:
		memcpy(&u16, at, sizeof u16);
		return u16;
	case 1:
		return *at;
	default:
		return 0;
	}
}

static void text(char *to, size_t size, const void *bytes, struct fib_layout_field f)
{
	size_t n = f.size < size - 1 ? f.size : size - 1;

	memcpy(to, (const char *)bytes + f.offset, n);
	to[n] = 0;
}

/* A fiber that yielded waits to be scheduled; one in a pinned wait runs and waits at the same
 * time. */
bool fib_row_waits(uint8_t state, uint8_t wait_kind, bool running, uint16_t pins)
{
	if (wait_kind == FIB_WAIT_NONE || wait_kind >= FIB_WAIT_COUNT)
		return false;
	if (running)
		return pins > 0;
	if (state == FIBER_RUNNABLE)
		return wait_kind == FIB_WAIT_YIELD;
	return state == FIBER_SUSPENDED;
}

/*
 * Compute the time in the current state, and in each state since the start; the record contains the
 * sums up to `since`.
 *
 * A thread that makes a fiber runnable adds the time of the wait, and then sets `since`. If it was
 * stopped in between, the record's sums extend beyond `since`: to the time at which the fiber
 * became runnable, so the fiber has been runnable since then.
 */
static void decode_times(const struct fib_layout *layout, const void *bytes, int64_t now,
			 struct fib_row *row)
{
	const uint64_t born = field(layout, bytes, FIB_FIELD_BORN);
	uint64_t since = field(layout, bytes, FIB_FIELD_SINCE), age, beyond;

	row->cpu = field(layout, bytes, FIB_FIELD_CPU);
	row->runnable = field(layout, bytes, FIB_FIELD_RUNNABLE);
	row->waited = field(layout, bytes, FIB_FIELD_WAITED);
	/* Unsigned: the fields may have any value, and their difference from now must not
	 * overflow. */
	age = (uint64_t)now - since;
	if ((int64_t)age < 0)
		age = 0;
	beyond = born + row->cpu + row->runnable + row->waited - since;
	if (row->state == FIBER_SUSPENDED && born && beyond && beyond <= age) {
		row->state = FIBER_RUNNABLE;
		since += beyond;
		age -= beyond;
	}
	row->age = (int64_t)age;
	if (row->state == FIBER_RUNNING)
		row->cpu += age;
	else if (row->state == FIBER_RUNNABLE)
		row->runnable += age;
	else if (row->state == FIBER_SUSPENDED)
		row->waited += age;
	else
		age = 0;
	row->lived = born ? since - born + age : 0;
	if (!fib_layout_has(layout, FIB_FIELD_BORN, sizeof born))
		row->runnable = row->waited = row->lived = FIB_ROW_UNKNOWN;
}

/* The locks that it holds: rwlocks for reading, and the last one that it took exclusively. */
static void decode_held(const struct fib_layout *layout, const void *bytes, struct fib_row *row)
{
	const struct fib_layout_field f = layout->fields[FIB_FIELD_READS];
	/* Three addresses of 4 bytes are no multiple of 8. */
	const size_t width = f.size % 8 ? 4 : 8, n = f.size / width;
	const unsigned char *const at = (const unsigned char *)bytes + f.offset;
	uint32_t narrow;
	size_t i;

	for (i = 0; i < n && i < FIB_ROW_READS; i++) {
		memcpy(&narrow, at + i * width, sizeof narrow);
		row->reads[i] = narrow;
		if (width == 8)
			memcpy(&row->reads[i], at + i * width, sizeof row->reads[i]);
	}
	row->reading = (uint32_t)field(layout, bytes, FIB_FIELD_READS_MORE);
	for (i = 0; i < FIB_ROW_READS; i++)
		row->reading += row->reads[i] != 0;
	row->held = field(layout, bytes, FIB_FIELD_HELD);
	row->held_at = row->held ? field(layout, bytes, FIB_FIELD_HELD_AT) : 0;
}

/* Where it comes from, and which runtime it was given to. */
static void decode_origin(const struct fib_layout *layout, const void *bytes, struct fib_row *row)
{
	row->parent = field(layout, bytes, FIB_FIELD_PARENT);
	row->spawn_pc = field(layout, bytes, FIB_FIELD_SPAWN_PC);
	row->entry = field(layout, bytes, FIB_FIELD_ENTRY);
	row->runtime = field(layout, bytes, FIB_FIELD_RUNTIME);
}

/* Whether a fiber that has exited reports an error of its own. */
static void decode_end(const struct fib_layout *layout, const void *bytes, struct fib_row *row)
{
	const int32_t error = (int32_t)field(layout, bytes, FIB_FIELD_ERROR);

	if (row->state == FIBER_DEAD && error != 0 && error != -ECANCELED)
		row->flags |= FIB_ROW_FAILED;
}

/* What it waits for, if it does. */
static void decode_wait(const struct fib_layout *layout, const void *bytes, int64_t now,
			struct fib_row *row)
{
	const bool running = (row->seq & 1) != 0;

	if (!fib_row_waits(row->state, row->wait_kind, running, row->pins)) {
		row->wait_kind = FIB_WAIT_NONE;
	} else if (row->wait_kind != FIB_WAIT_YIELD) {
		/* A yield has no object: these fields would be those of the previous wait. */
		row->wait_object = field(layout, bytes, FIB_FIELD_WAIT_OBJECT);
		row->wait_arg = field(layout, bytes, FIB_FIELD_WAIT_ARG);
		row->deadline = (int64_t)field(layout, bytes, FIB_FIELD_DEADLINE);
	}
	if (fib_row_polled(row))
		row->polled = field(layout, bytes, FIB_FIELD_POLLED);
	if (running && row->wait_kind != FIB_WAIT_NONE)
		row->pinned_waits = (uint32_t)field(layout, bytes, FIB_FIELD_PINNED_WAITS);
	if (row->wait_kind == FIB_WAIT_PREDICATE && !running && row->wait_arg) {
		/* It wakes now and then to call the predicate; the wait began before that. */
		row->age = (int64_t)((uint64_t)now - row->wait_arg);
		row->wait_arg = 0;
		if (row->age < 0)
			row->age = 0;
	}
}

bool fib_row_decode(const struct fib_layout *layout, const void *bytes, uint64_t address,
		    int64_t now, struct fib_row *ret)
{
	bool running;

	/* no labels: the rest is unused */
	memset(ret, 0, offsetof(struct fib_row, label) + 1);
	fib_row_end_labels(ret);
	memset(&ret->readers, 0, sizeof *ret - offsetof(struct fib_row, readers));
	ret->id = field(layout, bytes, FIB_FIELD_ID);
	if (!ret->id)
		return false;
	ret->record = address;
	decode_origin(layout, bytes, ret);
	ret->seq = field(layout, bytes, FIB_FIELD_SEQ);
	ret->sp = field(layout, bytes, FIB_FIELD_SP);
	ret->fp = field(layout, bytes, FIB_FIELD_FP);
	ret->pc = field(layout, bytes, FIB_FIELD_PC);
	ret->state = (uint8_t)field(layout, bytes, FIB_FIELD_STATE);
	ret->wait_kind = (uint8_t)field(layout, bytes, FIB_FIELD_WAIT_KIND);
	ret->flags = (uint8_t)field(layout, bytes, FIB_FIELD_FLAGS) & FIB_ROW_OWN;
	if (field(layout, bytes, FIB_FIELD_MASKED))
		ret->flags |= FIB_ROW_MASKED;
	ret->cancelled = field(layout, bytes, FIB_FIELD_CANCELLED) != 0;
	ret->pins = (uint16_t)field(layout, bytes, FIB_FIELD_PINS);
	ret->switches = (ret->seq + 1) / 2;
	ret->stack_low = field(layout, bytes, FIB_FIELD_STACK_LOW);
	ret->stack_size = field(layout, bytes, FIB_FIELD_STACK_SIZE);
	ret->stack_high_water = FIB_ROW_UNKNOWN;
	ret->labels = field(layout, bytes, FIB_FIELD_LABELS);
	ret->deadline = INT64_MAX;
	ret->carrier = FIB_ROW_CARRIER_NONE;
	text(ret->name, sizeof ret->name, bytes, layout->fields[FIB_FIELD_NAME]);

	running = (ret->seq & 1) != 0;
	if (running) {
		ret->state = FIBER_RUNNING;
		ret->carrier = (uint16_t)field(layout, bytes, FIB_FIELD_CARRIER);
	} else if (ret->state == FIBER_RUNNABLE && ret->flags & FIBER_BOUND) {
		ret->bound = (uint16_t)field(layout, bytes, FIB_FIELD_CARRIER) + 1u;
	}
	decode_end(layout, bytes, ret);
	decode_times(layout, bytes, now, ret);
	decode_held(layout, bytes, ret);
	decode_wait(layout, bytes, now, ret);
	/* A fiber that has not started, or has exited, has no sp. */
	if (!running && ret->sp && ret->sp - ret->stack_low <= ret->stack_size)
		ret->stack_used = ret->stack_low + ret->stack_size - ret->sp;
	return true;
}

bool fib_row_may_be_read(uint8_t wait_kind)
{
	return wait_kind == FIB_WAIT_RWLOCK_READ || wait_kind == FIB_WAIT_RWLOCK_WRITE;
}

/* Read whether the object has waiters, if the program says where. */
static int read_waiters(const struct fib_layout *layout, struct fib_row *row, fib_read_fn *read,
			void *reader)
{
	const struct fib_layout_field f = layout->waiters[row->wait_kind];
	uint64_t waiters;
	int rc;

	row->flags &= (uint8_t)~FIB_ROW_FORGOTTEN;
	if (f.size != sizeof waiters)
		return 0;
	rc = read(reader, row->wait_object + f.offset, &waiters, sizeof waiters);
	if (rc == 0 && !waiters)
		row->flags |= FIB_ROW_FORGOTTEN;
	return rc;
}

/* Read which fiber alone has signalled the object, if the program says where. */
static int read_toucher(const struct fib_layout *layout, struct fib_row *row, fib_read_fn *read,
			void *reader)
{
	const struct fib_layout_field f = layout->touchers[row->wait_kind];

	uint32_t toucher = 0;
	int rc = 0;

	if (f.size == sizeof toucher)
		rc = read(reader, row->wait_object + f.offset, &toucher, sizeof toucher);
	row->toucher = rc == 0 ? toucher : 0;
	return rc;
}

/* Read which thread runs the call that the fiber waits for, if the program says where. */
static int read_worker(const struct fib_layout *layout, const struct fib_row *row,
		       fib_read_fn *read, void *reader, uint64_t *ret)
{
	const struct fib_layout_field f = layout->worker;
	int rc;

	if (row->wait_kind != FIB_WAIT_OFFLOAD || f.size != sizeof *ret || !row->wait_arg ||
	    row->wait_arg == FIB_ROW_UNKNOWN)
		return 0;
	rc = read(reader, row->wait_arg + f.offset, ret, sizeof *ret);
	/* Only a thread runs such a call: another value is of memory that was reused. */
	if (rc == 0 && !(*ret & FIB_HOLDER_THREAD))
		*ret = 0;
	return rc;
}

bool fib_row_events(unsigned events, char *buf, size_t size)
{
	static const struct {
		unsigned bit;
		const char *name;
	} known[] = {{POLLIN, "read"}, {POLLOUT, "write"}, {POLLPRI, "priority"}};
	size_t at = 0, i;

	buf[0] = 0;
	for (i = 0; i < sizeof known / sizeof known[0]; i++)
		if (events & known[i].bit && at < size)
			at += (size_t)snprintf(buf + at, size - at, "%s%s", at ? "|" : "",
					       known[i].name);
	return at > 0;
}

/* Name the first of the descriptors. What does not fit is "...". */
static void name_polled(const struct pollfd *polled, unsigned n, bool all, char *name, size_t size)
{
	char events[32];
	size_t at = 0;
	unsigned i;
	int length;

	for (i = 0; i < n; i++) {
		const size_t rest = i + 1 < n || !all ? sizeof ", ..." - 1 : 0;

		if (!fib_row_events((unsigned short)polled[i].events, events, sizeof events))
			strcpy(events, "errors");
		length = snprintf(name + at, size - at, "%s%d %s", i ? ", " : "", polled[i].fd,
				  events);
		if (at + (size_t)length + rest >= size)
			break;
		at += (size_t)length;
	}
	if (i < n || !all)
		snprintf(name + at, size - at, "%s...", i ? ", " : "");
}

static int resolve_polled(struct fib_row *row, uint32_t count, fib_read_fn *read, void *reader)
{
	const unsigned n = count < FIB_ROW_POLLED ? count : FIB_ROW_POLLED;
	struct pollfd polled[FIB_ROW_POLLED];
	int rc;

	rc = read(reader, row->polled, polled, n * sizeof polled[0]);
	if (rc == 0)
		name_polled(polled, n, n == count, row->object_name, sizeof row->object_name);
	return rc;
}

int fib_row_resolve(const struct fib_layout *layout, struct fib_row *row, fib_read_fn *read,
		    void *reader)
{
	struct fib_layout_object o;
	char name[sizeof row->object_name] = {0};
	uint64_t holder = 0, readers = 0;
	int rc;

	if (row->polled)
		return resolve_polled(row, fib_row_polled(row), read, reader);
	if (row->wait_kind >= FIB_LAYOUT_WAITS || !row->wait_object)
		return 0;
	o = layout->objects[row->wait_kind];
	if (o.name.size) {
		size_t n = o.name.size < sizeof name - 1 ? o.name.size : sizeof name - 1;

		rc = read(reader, row->wait_object + o.name.offset, name, n);
		if (rc < 0)
			return rc;
	}
	if (o.holder.size == sizeof holder) {
		rc = read(reader, row->wait_object + o.holder.offset, &holder, sizeof holder);
		if (rc < 0)
			return rc;
	}
	if (fib_row_may_be_read(row->wait_kind) && layout->readers.size == sizeof readers) {
		rc = read(reader, row->wait_object + layout->readers.offset, &readers,
			  sizeof readers);
		if (rc < 0)
			return rc;
	}
	rc = read_waiters(layout, row, read, reader);
	if (rc == 0)
		rc = read_toucher(layout, row, read, reader);
	if (rc == 0)
		rc = read_worker(layout, row, read, reader, &holder);
	if (rc < 0)
		return rc;
	memcpy(row->object_name, name, sizeof name);
	row->readers = readers & FIB_READERS_COUNT ? readers : 0;
	row->holder = holder & ~FIB_HOLDER_CONTENDED;
	return 0;
}

bool fib_row_walkable(const struct fib_row *row)
{
	return !(row->seq & 1) && row->state != FIBER_DEAD && row->stack_used != 0;
}

bool fib_row_astray(const struct fib_row *row)
{
	return !(row->seq & 1) && (row->state == FIBER_RUNNABLE || row->state == FIBER_SUSPENDED) &&
	       row->sp && row->stack_low && row->stack_size &&
	       row->sp - row->stack_low > row->stack_size;
}

bool fib_row_not_started(const struct fib_row *row)
{
	return (row->state == FIBER_CREATED || row->state == FIBER_RUNNABLE) && !row->sp &&
	       !row->stack_low && row->entry;
}
