/* SPDX-License-Identifier: MIT */
/*
 * introspect.c - let the program inspect its own fibers
 *
 * The rows are those of the control socket, sampled by the same code, so the program and fiberctl
 * see the same by construction. A snapshot keeps rows in the public form in one block that doubles.
 * All other functions work on one row at a time and allocate nothing.
 */
#include <fiber/introspect.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "base/check.h"
#include "core/registry.h"
#include "os/os.h"
#include "runtime/runtime.h"
#include "service/sample.h"

/* ns. With fifty thousand waiters on one mutex, the mutex is read once, but the value is never
 * older than this. */
#define OBJECT_AGE INT64_C(1000000)

struct fiber_snapshot {
	struct fiber_info *infos;
	size_t count, room, next;
};

static void *pointer(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

static void describe_wait(const struct fib_row *row, struct fiber_info *info)
{
	info->wait_kind = fiber_registry.wait_names[row->wait_kind];
	info->wait_object = pointer(row->wait_object);
	memcpy(info->wait_object_name, row->object_name, sizeof info->wait_object_name);
	if (row->holder & FIB_HOLDER_THREAD)
		info->holder_thread = row->holder & ~FIB_HOLDER_THREAD;
	else
		info->holder_id = row->holder;
	info->fd = -1;
	if (row->wait_kind == FIB_WAIT_JOIN) {
		info->target_id = row->wait_arg;
	} else if (row->wait_kind == FIB_WAIT_FD) {
		info->fd = (int)(uint32_t)row->wait_arg;
		info->events = (short)(row->wait_arg >> 32);
	}
	info->deadline = row->deadline;
}

static void describe(const struct fib_row *row, int64_t now, struct fiber_info *info)
{
	memset(info, 0, sizeof *info);
	info->id = row->id;
	info->parent_id = row->parent;
	memcpy(info->name, row->name, sizeof info->name);
	info->state = (enum fiber_state)row->state;
	info->flags = row->flags & FIB_ROW_OWN;
	info->carrier = row->carrier == FIB_ROW_CARRIER_NONE ? -1 : row->carrier;
	info->pins = row->pins;
	describe_wait(row, info);
	info->since = now - row->age;
	info->switches = row->switches;
	info->cpu_ns = row->cpu;
	info->stack_size = row->stack_size;
	info->stack_used = row->stack_used;
	info->stack_high_water =
		row->stack_high_water == FIB_ROW_UNKNOWN ? 0 : row->stack_high_water;
	info->spawn_pc = pointer(row->spawn_pc);
	info->entry = pointer(row->entry);
	memcpy(info->labels, row->label, sizeof info->labels);
}

_Static_assert(sizeof((struct fiber_info *)0)->labels == FIB_LAYOUT_LABELS, "introspect.h");

bool fiber_info_label(const struct fiber_info *info, size_t *at, const char **ret_key,
		      const char **ret_value)
{
	fib_must_have(info, "the info");
	fib_must_have(at, "at");
	return fib_label_next(info->labels, at, ret_key, ret_value);
}

int fiber_foreach(struct fiber_runtime *rt, int (*fn)(const struct fiber_info *, void *), void *arg)
{
	/* Only records that existed at the start: a program that spawns without end must not keep
	 * this loop running. */
	uint64_t committed = fib_registry_committed(), i;
	struct fib_sample_object last;
	int64_t looked = 0;
	struct fiber_info info;
	struct fib_row row;
	int rc;

	fib_must_have(fn, "the function");
	for (i = 0; i < committed; i++) {
		int64_t now;

		if (!fib_sample_id(i))
			continue;
		now = fib_os_now();
		if (now - looked > OBJECT_AGE) {
			memset(&last, 0, sizeof last);
			looked = now;
		}
		if (!fib_sample_fiber(i, now, &last, &row, &rc) ||
		    (rt && fib_sample_sched(&row) != &rt->sched))
			continue;
		describe(&row, now, &info);
		rc = fn(&info, arg);
		if (rc)
			return rc;
	}
	return 0;
}

static int append(const struct fiber_info *info, void *arg)
{
	struct fiber_snapshot *s = arg;

	if (s->count == s->room) {
		size_t room = s->room ? s->room * 2 : 256;
		struct fiber_info *infos = realloc(s->infos, room * sizeof *infos);

		if (!infos)
			return -ENOMEM;
		s->infos = infos;
		s->room = room;
	}
	s->infos[s->count++] = *info;
	return 0;
}

int fiber_snapshot(struct fiber_runtime *rt, struct fiber_snapshot **ret)
{
	struct fiber_snapshot *s = fib_fault(MEMORY) < 0 ? NULL : calloc(1, sizeof *s);
	int rc;

	fib_must_have(ret, "ret");
	if (!s)
		return -ENOMEM;
	rc = fiber_foreach(rt, append, s);
	if (rc < 0) {
		fiber_snapshot_free(s);
		return rc;
	}
	*ret = s;
	return 0;
}

size_t fiber_snapshot_count(const struct fiber_snapshot *snapshot)
{
	fib_must_have(snapshot, "the snapshot");
	return snapshot->count;
}

bool fiber_snapshot_next(struct fiber_snapshot *snapshot, struct fiber_info *ret)
{
	fib_must_have(snapshot, "the snapshot");
	fib_must_have(ret, "ret");
	if (snapshot->next == snapshot->count)
		return false;
	*ret = snapshot->infos[snapshot->next++];
	return true;
}

void fiber_snapshot_free(struct fiber_snapshot *snapshot)
{
	if (!snapshot)
		return;
	free(snapshot->infos);
	free(snapshot);
}
