/* SPDX-License-Identifier: MIT */
/*
 * source_live.c - the fibers of a live process, read from its memory
 *
 * The process is not asked: it may be stopped already, or hang with every carrier in a loop. Nor is it stopped, but for who
 * runs a fiber, where that is wanted (runner.c). Its memory is read with process_vm_readv, through /proc/PID/mem where a sandbox
 * forbids that call.
 *
 * While we look, fibers run. A record's seq is odd while its fiber runs and moves at every switch,
 * so one call copies, in this order: seq, the record, the stack, seq and id again. When all three seqs
 * are equal and even, and the id is still the record's, record and stack are of one moment: a
 * record that is given to another fiber counts from 0 again, and soon has the same seq. What moved is looked at
 * again a few times, and so is what runs: most often it soon does not. What never holds still is reported as
 * running and never guessed.
 */
#include "inspect/model/source.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fiber/fiber.h>

#include "inspect/text/duration.h"
#include "inspect/process/memory.h"
#include "inspect/process/pagemap.h"
#include "inspect/source/records.h"
#include "inspect/source/registry.h"
#include "inspect/unwind/resume.h"
#include "inspect/process/rights.h"
#include "inspect/process/runner.h"
#include "inspect/process/thread_stack_live.h"
#include "inspect/text/slurp.h"
#include "inspect/model/thread_stack.h"

#define LOOKS_MAX	8
#define STOPS_MAX	4	    /* times that we go for who runs a fiber */
#define STACK_BYTES_MAX (16u << 20) /* copied of one stack */

struct live {
	struct ins_source source;
	struct ins_memory memory;
	int pagemap; /* -1: not to be had */
	unsigned char *record;
	unsigned char *stack;
	size_t stack_room;
	struct ins_runners *runners; /* NULL: nobody is stopped */
	/* during a read */
	const struct ins_request *request;
	ins_fiber_fn *fn;
	void *context;
	struct ins_summary *summary;
	uint64_t unresolved;
	uint64_t unlabelled;
	uint64_t vanished;
};

static int live_memory(void *source, uint64_t address, void *buf, size_t size)
{
	struct live *l = source;
	struct ins_memory_piece piece = {address, buf, size};

	return ins_memory_read(&l->memory, &piece, 1);
}

/* There is no stack, and nothing else that was copied. */
static void forget(struct ins_fiber *fiber, unsigned flags)
{
	fiber->flags = flags;
	fiber->registers.known = 0;
	fiber->stack = NULL;
	fiber->stack_size = fiber->aside_size = 0;
}

static bool make_room(struct live *l, size_t size)
{
	unsigned char *more;

	if (size <= l->stack_room)
		return true;
	more = realloc(l->stack, size);
	if (!more)
		return false;
	l->stack = more;
	l->stack_room = size;
	return true;
}

enum look { LOOK_GOOD, LOOK_MOVED, LOOK_UNREADABLE };

/* One copy of what row said a moment ago; the fresh record ends up in l->record. */
static enum look look_once(struct live *l, const struct fib_row *row, size_t stack)
{
	const struct fib_layout *layout = &l->source.layout;
	uint64_t seq_at = row->record + layout->fields[FIB_FIELD_SEQ].offset;
	uint64_t id_at = row->record + layout->fields[FIB_FIELD_ID].offset;
	uint64_t since_at = row->record + layout->fields[FIB_FIELD_SINCE].offset;
	uint64_t before, after, inside, id, id_after, since, since_after;
	struct ins_memory_piece piece[6] = {
		{seq_at, &before, sizeof before},
		{row->record, l->record, layout->record_size},
	};
	unsigned n = 2;

	if (stack)
		piece[n++] = (struct ins_memory_piece){row->sp, l->stack, stack};
	piece[n++] = (struct ins_memory_piece){seq_at, &after, sizeof after};
	piece[n++] = (struct ins_memory_piece){id_at, &id_after, sizeof id_after};
	piece[n++] = (struct ins_memory_piece){since_at, &since_after, sizeof since_after};
	if (ins_memory_read(&l->memory, piece, n) < 0)
		return LOOK_UNREADABLE;
	memcpy(&inside, l->record + layout->fields[FIB_FIELD_SEQ].offset, sizeof inside);
	memcpy(&id, l->record + layout->fields[FIB_FIELD_ID].offset, sizeof id);
	memcpy(&since, l->record + layout->fields[FIB_FIELD_SINCE].offset, sizeof since);
	return before == inside && inside == after && id == id_after && since == since_after
		       ? LOOK_GOOD
		       : LOOK_MOVED;
}

/* Whether the fiber still is where row says. */
static bool still(struct live *l, const struct fib_row *row)
{
	const struct fib_layout_field *fields = l->source.layout.fields;
	uint64_t seq, id;

	return live_memory(l, row->record + fields[FIB_FIELD_SEQ].offset, &seq, sizeof seq) == 0 &&
	       live_memory(l, row->record + fields[FIB_FIELD_ID].offset, &id, sizeof id) == 0 &&
	       seq == row->seq && id == row->id;
}

/* Copy one fiber as row saw it a moment ago. True when fiber is of one moment now, or is not there any
 * more. */
static bool copy_fiber(struct live *l, struct ins_fiber *fiber, bool *ret_ended)
{
	const struct fib_layout *layout = &l->source.layout;
	struct fib_row *row = &fiber->row, was = *row;
	bool walkable = fib_row_walkable(&was);
	size_t size = 0;
	enum look look;

	forget(fiber, 0);
	if (l->request->stacks && walkable) {
		size = was.stack_used < STACK_BYTES_MAX ? was.stack_used : STACK_BYTES_MAX;
		if (!make_room(l, size))
			size = 0;
	}
	look = look_once(l, &was, size);
	if (look == LOOK_UNREADABLE && size) {
		size = 0;
		fiber->flags = INS_FIBER_GONE;
		look = look_once(l, &was, 0);
	}
	if (look == LOOK_UNREADABLE) {
		/* Records are never unmapped: the process has ended. */
		l->vanished++;
		l->summary->total++;
		*ret_ended = true;
		return true;
	}
	fiber->now = ins_duration_now();
	*ret_ended = !fib_row_decode(layout, l->record, was.record, fiber->now, row);
	if (*ret_ended)
		return true;
	if (look == LOOK_MOVED || row->id != was.id || row->sp != was.sp ||
	    row->stack_low != was.stack_low || row->stack_size != was.stack_size ||
	    fib_row_walkable(row) != walkable)
		return false;
	if (size) {
		fiber->stack = l->stack;
		fiber->stack_size = size;
		if (size < row->stack_used)
			fiber->flags |= INS_FIBER_CUT;
		ins_resume(&l->source, l->record, fiber);
	}
	if (row->wait_object && fib_row_resolve(layout, row, live_memory, l) < 0)
		l->unresolved++;
	/* What was read beside the copy is of that moment too. */
	return (!row->wait_object && layout->recipe != FIB_RECIPE_SAVED) || still(l, row);
}

/* It ran each time we looked. */
static void call_moving(struct ins_fiber *fiber)
{
	forget(fiber, INS_FIBER_MOVING);
	fiber->row.state = FIBER_RUNNING;
	fiber->row.wait_kind = FIB_WAIT_NONE;
	fiber->row.wait_object = 0;
	fiber->row.holder = 0;
	fiber->row.stack_used = 0;
}

/* Whether it runs, and that is not all that is wanted of it. */
static bool to_be_stopped(const struct live *l, const struct ins_fiber *fiber)
{
	return l->runners && l->request->stacks && fiber->row.state == FIBER_RUNNING;
}

/* Copy one that runs: most often it soon does not. True when fiber is of one moment, or is not there any more. */
static bool copy_running(struct live *l, struct ins_fiber *fiber, bool *ret_ended)
{
	enum ins_runner_end end;
	bool good = true;
	unsigned stops;

	for (stops = 0; stops < STOPS_MAX && !*ret_ended; stops++) {
		if (good && !to_be_stopped(l, fiber))
			break;
		end = good ? ins_runners_take(l->runners, fiber) : INS_RUNNER_MOVED;
		if (end == INS_RUNNER_TAKEN)
			fib_row_resolve(&l->source.layout, &fiber->row, live_memory, l);
		if (end != INS_RUNNER_MOVED)
			return true;
		good = copy_fiber(l, fiber, ret_ended);
	}
	return good;
}

static int each_record(void *context, uint64_t address, const void *bytes)
{
	struct live *l = context;
	struct ins_fiber fiber = {0};
	bool ended = false, good = false;
	unsigned looks;

	fiber.now = ins_duration_now();
	if (!fib_row_decode(&l->source.layout, bytes, address, fiber.now, &fiber.row))
		return 0;
	if (!ins_records_wanted(l->request, &fiber.row)) {
		l->summary->total++;
		return 0;
	}
	for (looks = 0; (!good || to_be_stopped(l, &fiber)) && !ended && looks < LOOKS_MAX; looks++)
		good = copy_fiber(l, &fiber, &ended);
	if (!ended && to_be_stopped(l, &fiber))
		good = copy_running(l, &fiber, &ended);
	if (ended)
		return 0;
	if (!good)
		call_moving(&fiber);
	if (fib_row_labels(&fiber.row, live_memory, l) < 0)
		l->unlabelled++;
	if (l->request->high_water && fiber.row.state != FIBER_DEAD)
		fiber.row.stack_high_water =
			ins_pagemap_depth(l->pagemap, fiber.row.stack_low, fiber.row.stack_size);
	l->summary->total++;
	l->summary->shown++;
	return l->fn(l->context, &fiber);
}

static int live_read(struct ins_source *source, const struct ins_request *request, ins_fiber_fn *fn,
		     void *context, struct ins_summary *ret, struct ins_error *error)
{
	struct live *l = (struct live *)source;
	int64_t start = ins_duration_now();
	int rc;

	l->request = request;
	l->fn = fn;
	l->context = context;
	l->summary = ret;
	l->unresolved = l->unlabelled = l->vanished = 0;
	if (source->pauses && !l->runners && ins_runners_new(source, &l->memory, &l->runners) < 0)
		return ins_error_set(error, -ENOMEM, "out of memory");
	if (l->runners)
		ins_runners_begin(l->runners);
	rc = ins_records_each(source, each_record, l, error);
	ret->sampled_ns = ins_duration_now() - start;
	if (kill(source->pid, 0) < 0 && errno == ESRCH) {
		if (!ret->shown)
			return ins_error_set(error, -ESRCH, "process %d: ended while it was read",
					     (int)source->pid);
		ins_problems_add(&source->problems, "process %d ended while it was read",
				 (int)source->pid);
	}
	if (l->vanished)
		ins_problems_add(&source->problems, "%llu fiber%s could not be read any more",
				 (unsigned long long)l->vanished, l->vanished == 1 ? "" : "s");
	if (l->unresolved)
		ins_problems_add(&source->problems,
				 "what %llu fiber%s for could not be read: holder and name of "
				 "it are missing",
				 (unsigned long long)l->unresolved,
				 l->unresolved == 1 ? " waits" : "s wait");
	if (l->unlabelled)
		ins_problems_add(&source->problems, "the labels of %llu fiber%s could not be read",
				 (unsigned long long)l->unlabelled, l->unlabelled == 1 ? "" : "s");
	if (rc == 0 && request->id && !ret->shown)
		return ins_error_set(error, -ESRCH, "fiber %llu: no such fiber in process %d",
				     (unsigned long long)request->id, (int)source->pid);
	return rc;
}

static void live_close(struct ins_source *source)
{
	struct live *l = (struct live *)source;

	ins_runners_free(l->runners);
	ins_modules_free(source->modules);
	ins_problems_free(&source->problems);
	ins_memory_close(&l->memory);
	if (l->pagemap >= 0)
		close(l->pagemap);
	free(l->record);
	free(l->stack);
	free(l);
}

static const struct ins_source_ops live_ops = {live_read, live_close, NULL, ins_thread_stack_live};

/* The modules of the process, and its memory. */
static int open_memory(struct live *l, struct ins_error *error)
{
	pid_t pid = l->source.pid;
	char path[64], *text;
	size_t size;
	int rc;

	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	rc = ins_slurp(path, &text, &size);
	if (rc == -EACCES || rc == -EPERM)
		return ins_rights_explain(pid, rc, error);
	if (rc < 0)
		return ins_error_set(error, rc, "process %d: %s: %s", (int)pid, path,
				     strerror(-rc));
	rc = ins_modules_new(pid, live_memory, l, &l->source.problems, &l->source.modules);
	if (rc == 0)
		rc = ins_modules_parse_maps(l->source.modules, text, size);
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
	if (rc == -EPERM || rc == -EACCES)
		return ins_rights_explain(pid, rc, error);
	if (rc < 0)
		return ins_error_set(error, rc, "process %d: its memory cannot be read: %s",
				     (int)pid, strerror(-rc));
	return 0;
}

static int open_registry(struct live *l, struct ins_error *error)
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
	snprintf(path, sizeof path, "/proc/%d/pagemap", (int)l->source.pid);
	l->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	return 0;
}

int ins_source_open_live(pid_t pid, struct ins_error *error, struct ins_source **ret)
{
	char state[64];
	struct live *l;
	int rc;

	rc = ins_rights_seen(pid, error);
	if (rc < 0)
		return rc;
	if (ins_rights_status(pid, "State", state, sizeof state) == 0 &&
	    (state[0] == 'Z' || state[0] == 'X'))
		return ins_error_set(error, -ESRCH,
				     "process %d: has ended; its parent has not taken notice yet",
				     (int)pid);
	l = calloc(1, sizeof *l);
	if (!l)
		return ins_error_set(error, -ENOMEM, "out of memory");
	l->source.kind = "live";
	l->source.pid = pid;
	l->source.memory = live_memory;
	l->source.ops = &live_ops;
	l->memory.file = -1;
	l->pagemap = -1;
	rc = open_memory(l, error);
	if (rc == 0)
		rc = open_registry(l, error);
	if (rc < 0) {
		live_close(&l->source);
		return rc;
	}
	*ret = &l->source;
	return 0;
}
