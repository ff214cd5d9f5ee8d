/* SPDX-License-Identifier: MIT */
/*
 * source_live.c - the fibers of a live process, read from its memory
 *
 * The process does not take part: it may be stopped already, or hang with every carrier in a loop.
 * It is not stopped either, except for the threads that run a fiber if the caller wants that
 * (runner.c). Its memory is read with process_vm_readv, or through /proc/PID/mem where a sandbox
 * forbids that call.
 *
 * The records may be wrong, so no read may make the process larger (present.h).
 */
#include "inspect/source/live.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fiber/fiber.h>

#include "inspect/source/source.h"
#include "inspect/text/duration.h"
#include "inspect/process/pagemap.h"
#include "inspect/process/regions.h"
#include "inspect/source/records.h"
#include "inspect/source/registry.h"
#include "inspect/process/permission.h"
#include "inspect/process/running_live.h"
#include "inspect/text/member.h"
#include "inspect/text/read_file.h"
#include "inspect/process/thread.h"
#include "inspect/process/thread_at_live.h"
#include "inspect/process/thread_stack_live.h"

static uint64_t live_run(struct ins_source *source, uint64_t address, uint64_t size,
			 bool *ret_there)
{
	struct ins_present *present = ((struct ins_live *)source)->present;

	present->sparse = source->sparse;
	return ins_present_run(present, address, size, ret_there);
}

static uint64_t live_held(const struct ins_source *source)
{
	return ins_present_held(source->pid);
}

static uint64_t depth(struct ins_source *source, const struct fib_row *row)
{
	struct ins_live *l = (struct ins_live *)source;

	if (!ins_reading_spend(&l->reading.depth_left, row->stack_size))
		return FIB_ROW_UNKNOWN;
	return ins_pagemap_depth(l->pagemap, row->stack_low, row->stack_size);
}

static int each_record(void *context, uint64_t address, const void *bytes)
{
	struct ins_live *l = context;
	struct ins_fiber fiber = {0};
	int rc;

	fiber.now = ins_duration_now();
	if (!fib_row_decode(&l->source.layout, bytes, address, fiber.now, &fiber.row) ||
	    !ins_reading_wants(&l->reading, &fiber.row))
		return 0;
	if (!(l->reading.request->bare && ins_live_many(l, address, &fiber)) &&
	    !ins_live_copy(l, &fiber))
		return 0;
	ins_reading_complete(&l->reading, &l->source, depth, &fiber);
	l->present->files = false;
	rc = ins_reading_emit(&l->reading, &fiber);
	l->present->files = true;
	return rc;
}

/* Read a field of the registry again, if the program has it. */
static void renew(struct ins_live *l, size_t at, void *field, size_t size)
{
	if (l->source.layout.size >= at + size)
		ins_live_memory(l, l->source.modules->registry + at, field, size);
}

/* There may be more records than at the last reading, up to those that were reserved. */
static void renew_records(struct ins_live *l)
{
	struct fib_layout *layout = &l->source.layout;
	uint64_t committed = 0;

	renew(l, offsetof(struct fib_layout, committed), &committed, sizeof committed);
	if (committed > layout->committed && committed <= layout->capacity)
		layout->committed = committed;
}

/* Read again what changes in the registry while the program runs. */
static void renew_counts(struct ins_live *l)
{
	struct fib_layout *layout = &l->source.layout;

	renew_records(l);
	renew(l, offsetof(struct fib_layout, carriers), &layout->carriers, sizeof layout->carriers);
	renew(l, offsetof(struct fib_layout, waiting_threads), &layout->waiting_threads,
	      sizeof layout->waiting_threads);
	renew(l, offsetof(struct fib_layout, offload_threads), &layout->offload_threads,
	      sizeof layout->offload_threads);
	renew(l, offsetof(struct fib_layout, offload_queued), &layout->offload_queued,
	      sizeof layout->offload_queued);
	renew(l, offsetof(struct fib_layout, offload_since), &layout->offload_since,
	      sizeof layout->offload_since);
	renew(l, offsetof(struct fib_layout, recording_lost), &layout->recording_lost,
	      sizeof layout->recording_lost);
}

static int live_read(struct ins_source *source, const struct ins_request *request, ins_fiber_fn *fn,
		     void *context, struct ins_summary *ret, struct ins_error *error)
{
	struct ins_live *l = (struct ins_live *)source;
	int64_t start = ins_duration_now();
	int rc;

	ins_reading_begin(&l->reading, request, fn, context, ret);
	ins_live_limit(l);
	ins_live_many_begin(l);
	renew_counts(l);
	if (source->pauses && !l->runners && ins_runners_new(source, &l->memory, &l->runners) < 0)
		return ins_error_set(error, -ENOMEM, "out of memory");
	if (l->runners)
		ins_runners_begin(l->runners);
	l->present->files = true;
	rc = ins_records_asked(source, request, each_record, l, error);
	l->present->files = false;
	ret->sampled_ns = ins_duration_now() - start;
	if (kill(source->pid, 0) < 0 && errno == ESRCH) {
		if (!ret->shown)
			return ins_error_set(error, -ESRCH, "process %d: ended while it was read",
					     (int)source->pid);
		ins_problems_add(&source->problems, "process %d ended while it was read",
				 (int)source->pid);
	}
	return ins_reading_end(&l->reading, source, false, rc, error);
}

static void live_close(struct ins_source *source)
{
	struct ins_live *l = (struct ins_live *)source;

	ins_runners_free(l->runners);
	ins_modules_free(source->modules);
	ins_problems_free(&source->problems);
	ins_memory_close(&l->memory);
	ins_present_free(l->present);
	if (l->pagemap >= 0)
		close(l->pagemap);
	free(l->record);
	ins_live_free_stack(l);
	ins_live_many_free(l);
	free(l);
}

static int live_regions(struct ins_source *source, struct ins_regions *ret)
{
	/* What is read of them must not be judged by the mappings of an earlier moment. */
	ins_present_renew(((struct ins_live *)source)->present);
	return ins_regions_live(source->pid, ret);
}

static const struct ins_source_ops live_ops = {
	.read = live_read,
	.close = live_close,
	.thread = ins_thread_stack_live,
	.threads = ins_thread_ids_live,
	.thread_at = ins_thread_at_live,
	.thread_stopped = ins_thread_stack_stopped,
	.regions = live_regions,
	.running = ins_running_live,
};

/* Find the modules of the process and the way to read its memory. */
static int open_memory(struct ins_live *l, struct ins_error *error)
{
	pid_t pid = l->source.pid;
	char path[64], *text;
	size_t size;
	int rc;

	snprintf(path, sizeof path, "/proc/%d/maps", (int)ins_member(pid));
	rc = ins_read_file(path, &text, &size);
	if (rc == -EACCES || rc == -EPERM)
		return ins_permission_explain(pid, rc, error);
	if (rc < 0)
		return ins_error_set(error, rc, "process %d: %s: %s", (int)pid, path,
				     strerror(-rc));
	rc = ins_modules_new(pid, ins_live_memory, l, &l->source.problems, &l->source.modules);
	if (rc == 0)
		rc = ins_modules_parse_maps(l->source.modules, text, size);
	if (rc == 0)
		rc = ins_present_new(pid, text, size, &l->present);
	free(text);
	if (rc < 0)
		return ins_error_set(error, rc, "out of memory");
	ins_modules_sort(l->source.modules);
	if (!l->source.modules->count)
		return ins_error_set(error, -ENOENT,
				     "process %d: has no program in memory: a kernel thread, or it "
				     "is ending",
				     (int)pid);
	rc = ins_memory_find(&l->memory, pid, l->source.modules);
	l->memory.present = l->present;
	if (rc == -EPERM || rc == -EACCES)
		return ins_permission_explain(pid, rc, error);
	if (rc == -ESRCH)
		return ins_error_set(error, rc, "process %d: has ended, or is ending",
				     (int)l->source.pid);
	if (rc < 0)
		return ins_error_set(error, rc, "process %d: its memory cannot be read: %s",
				     (int)pid, strerror(-rc));
	return 0;
}

static int open_registry(struct ins_live *l, struct ins_error *error)
{
	struct ins_error why;
	char path[64];
	int rc = ins_registry_find(l->source.modules, &l->source.layout, &why);

	if (rc < 0)
		return ins_error_set(error, rc, "process %d: has no fibers to show: %s",
				     (int)l->source.pid, why.text);
	l->record = malloc(l->source.layout.record_size);
	if (!l->record)
		return ins_error_set(error, -ENOMEM, "out of memory");
	snprintf(l->source.name, sizeof l->source.name, "%s", l->source.layout.program);
	snprintf(path, sizeof path, "/proc/%d/pagemap", (int)ins_member(l->source.pid));
	l->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	return 0;
}

/* fibers: it must have fibers. */
static int open_process(pid_t pid, bool fibers, struct ins_error *error, struct ins_source **ret)
{
	char state[64];
	struct ins_live *l;
	int rc;

	rc = ins_permission_seen(pid, error);
	if (rc < 0)
		return rc;
	if (ins_permission_status(pid, "State", state, sizeof state) == 0 &&
	    (state[0] == 'Z' || state[0] == 'X') && ins_member(pid) == pid)
		return ins_error_set(
			error, -ESRCH,
			"process %d: has ended; it is a zombie until its parent waits for it",
			(int)pid);
	l = calloc(1, sizeof *l);
	if (!l)
		return ins_error_set(error, -ENOMEM, "out of memory");
	l->source.kind = "live";
	l->source.pid = pid;
	l->source.memory = ins_live_memory;
	l->source.run = live_run;
	l->source.held = live_held;
	l->source.ops = &live_ops;
	l->memory.file = -1;
	l->pagemap = -1;
	rc = open_memory(l, error);
	if (rc == 0 && fibers)
		rc = open_registry(l, error);
	if (rc < 0) {
		live_close(&l->source);
		return rc;
	}
	*ret = &l->source;
	return 0;
}

int ins_source_open_live(pid_t pid, struct ins_error *error, struct ins_source **ret)
{
	return open_process(pid, true, error, ret);
}

int ins_source_open_process(pid_t pid, struct ins_error *error, struct ins_source **ret)
{
	int rc = open_process(pid, false, error, ret);

	if (rc == 0)
		ins_thread_name(pid, (uint64_t)pid, (*ret)->name);
	return rc;
}
