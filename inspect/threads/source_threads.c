/* SPDX-License-Identifier: MIT */
/*
 * source_threads.c - make a source emit the threads of its program as rows
 *
 * A thread of a live process is not stopped. Its place is read, then its stack and the object that
 * it waits for, then its place again. If the place and the count of its context switches are the
 * same, the thread has slept all the time and the row is consistent. Otherwise all is read again.
 */
#include "inspect/threads/threads.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include <fiber/fiber.h>

#include "inspect/model/thread_at.h"
#include "inspect/model/thread_stack.h"
#include "inspect/text/duration.h"
#include "inspect/threads/restarted.h"
#include "inspect/threads/thread_wait.h"
#include "inspect/unwind/thread_stack_walk.h"

#define TRIES 8

/* The first member is what the source uses, so the rest is found by it. */
struct shown {
	struct ins_source_ops ops;
	const struct ins_source_ops *base; /* of the source itself */
	bool fiberless;			   /* the program has no fibers */
	struct ins_unwinder *unwinder;
	struct ins_symbols *symbols;
	struct ins_walk walk;
};

/* A read in progress. */
struct reading {
	struct shown *shown;
	struct ins_source *source;
	const struct ins_request *request;
	struct ins_summary *summary;
	struct ins_thread_ids ids;
	/*
	 * The numbers of ids in the pid namespace of the process; NULL: they are the same.
	 */
	uint64_t *inner;
	struct ins_descriptors descriptors; /* pid 0: not a live process */
};

static struct shown *shown_of(const struct ins_source *source)
{
	return (struct shown *)source->ops;
}

/* Make a row without a wait. */
static void make_row(const struct ins_thread_at *at, struct ins_fiber *ret)
{
	struct fib_row *row = &ret->row;

	row->id = at->tid;
	row->seq = 2 * at->switches;
	row->switches = at->switches;
	row->wait_arg = FIB_ROW_UNKNOWN;
	row->deadline = INT64_MAX;
	row->cpu = at->cpu;
	row->runnable = at->runnable;
	row->waited = row->lived = row->stack_high_water = FIB_ROW_UNKNOWN;
	row->carrier = FIB_ROW_CARRIER_NONE;
	row->state = at->runs ? FIBER_RUNNING : FIBER_SUSPENDED;
	row->wait_kind = FIB_WAIT_NONE;
	snprintf(row->name, sizeof row->name, "%s", at->name);
	ret->flags |= INS_FIBER_THREAD;
}

static int thread_at(const struct reading *r, uint64_t tid, enum ins_thread_ask ask,
		     struct ins_thread_at *ret)
{
	const int rc = r->shown->base->thread_at(r->source, tid, ask, ret);

	if (rc == 0)
		ret->call = ins_restarted_call(r->source, ret);
	return rc;
}

/* Whether the thread has slept since `before` was read. */
static bool still(const struct reading *r, const struct ins_thread_at *before)
{
	struct ins_thread_at now;

	return thread_at(r, before->tid, INS_THREAD_MOVES, &now) == 0 && now.call == before->call &&
	       now.switches == before->switches && now.registers.pc == before->registers.pc &&
	       now.registers.sp == before->registers.sp;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Translate a number of the process' own pid namespace. *ret_exists: it is one of its threads. If
 * the namespace differs from ours, the number of another thread is unknown: 0.
 */
static uint64_t number_of(const struct reading *r, uint64_t inner, bool *ret_exists)
{
	size_t i;

	if (!r->inner) {
		*ret_exists = bsearch(&inner, r->ids.tid, r->ids.count, sizeof inner, by_number);
		return inner;
	}
	for (i = 0; i < r->ids.count; i++)
		if (r->inner[i] == inner) {
			*ret_exists = true;
			return r->ids.tid[i];
		}
	*ret_exists = false;
	return 0;
}

/*
 * The thread that holds what another one waits for in this place; inner: as the lock has it. A
 * thread that is not of this process may have exited. But it may also be of another process that
 * shares the lock, or of the parent, whose locks a forked child has a copy of: then it is unknown.
 */
static uint64_t holder_of(const struct reading *r, const struct ins_thread_at *at, uint64_t inner)
{
	const bool shared = at->call == SYS_futex && !(at->argument[1] & FUTEX_PRIVATE_FLAG);
	bool exists;
	const uint64_t tid = inner ? number_of(r, inner, &exists) : 0;

	if (!tid || exists)
		return tid;
	return shared || tid < (uint64_t)r->source->pid ? 0 : tid;
}

/*
 * Walk to find what the thread waits for. A walk that is truncated further out does not matter here,
 * so no problem is reported.
 */
static void walk_quietly(struct reading *r, const struct ins_thread_stack *stack)
{
	struct ins_problems *problems = &r->source->problems, kept = *problems;

	memset(problems, 0, sizeof *problems);
	ins_thread_stack_walk(r->shown->unwinder, stack, &r->shown->walk);
	ins_problems_free(problems);
	*problems = kept;
}

/* Find what the thread waits for. at->registers.pc is not 0. */
static void find_wait(struct reading *r, const struct ins_thread_at *at,
		      const struct ins_thread_stack *stack, struct ins_fiber *fiber)
{
	struct shown *shown = r->shown;
	struct ins_sleeper sleeper = {
		.source = r->source,
		.symbols = shown->symbols,
		.at = at,
		.walk = &shown->walk,
		.descriptors = r->descriptors.pid ? &r->descriptors : NULL,
		.now = fiber->now,
	};
	struct fib_row *row = &fiber->row;
	bool exists;

	shown->walk.count = 0;
	if (stack->bytes && ins_thread_wait_needs_walk(at))
		walk_quietly(r, stack);
	ins_thread_wait(&sleeper, row);
	row->holder = holder_of(r, at, row->holder);
	if (row->wait_kind == FIB_WAIT_JOIN && row->wait_arg != FIB_ROW_UNKNOWN) {
		row->wait_arg = number_of(r, row->wait_arg, &exists);
		row->wait_arg = exists ? row->wait_arg : FIB_ROW_UNKNOWN;
	}
}

/* Put the stack into the row. */
static void give_stack(const struct ins_thread_stack *stack, struct ins_fiber *fiber)
{
	const struct fib_row *from = &stack->fiber.row;
	struct fib_row *row = &fiber->row;

	row->sp = from->sp;
	row->fp = from->fp;
	row->pc = from->pc;
	fiber->registers = stack->fiber.registers;
	fiber->flags |= stack->fiber.flags;
	if (!stack->bytes) {
		fiber->flags |= INS_FIBER_GONE;
		return;
	}
	row->stack_low = from->stack_low;
	row->stack_size = from->stack_size;
	row->stack_used = from->stack_used;
	fiber->stack = stack->fiber.stack;
	fiber->stack_size = stack->fiber.stack_size;
}

/*
 * The stack of a thread that runs, if it may be stopped for that. In a core it needs no stop.
 * -ENOMEM.
 */
static int stop(struct reading *r, const struct ins_thread_at *at, struct ins_thread_stack *stack,
		struct ins_fiber *fiber)
{
	const struct ins_source_ops *base = r->shown->base;
	int rc;

	if (at->registers.pc)
		rc = ins_thread_stack_registers(r->source, at->tid, &at->registers, stack);
	else if (r->source->pauses && base->thread_stopped)
		rc = base->thread_stopped(r->source, at->tid, stack);
	else
		return 0;
	if (rc < 0)
		return rc;
	if (!stack->bytes) {
		ins_problems_add(&r->source->problems, "thread %llu: no stack: %s",
				 (unsigned long long)at->tid, stack->why);
		return 0;
	}
	give_stack(stack, fiber);
	fiber->flags |= INS_FIBER_PAUSED;
	return 0;
}

/* Try once. 0; -EAGAIN: the thread has moved meanwhile; -ESRCH: it has exited; -ENOMEM. */
static int look(struct reading *r, uint64_t tid, struct ins_thread_stack *stack,
		struct ins_fiber *ret)
{
	struct ins_thread_at at;
	int rc = thread_at(r, tid, INS_THREAD_ALL, &at);

	memset(ret, 0, sizeof *ret);
	ret->now = strcmp(r->source->kind, "core") == 0 ? 0 : ins_duration_now();
	if (rc < 0)
		return rc;
	make_row(&at, ret);
	if (at.runs && r->request->stacks)
		return stop(r, &at, stack, ret);
	if (!at.registers.pc)
		return 0;
	if (r->request->stacks || ins_thread_wait_needs_walk(&at))
		rc = ins_thread_stack_registers(r->source, tid, &at.registers, stack);
	if (rc < 0)
		return rc;
	find_wait(r, &at, stack, ret);
	if (r->request->stacks)
		give_stack(stack, ret);
	return still(r, &at) ? 0 : -EAGAIN;
}

static int emit(struct reading *r, uint64_t tid, ins_fiber_fn *fn, void *context)
{
	struct ins_thread_stack stack = {0};
	struct ins_fiber fiber;
	int rc = -EAGAIN;
	unsigned i;

	for (i = 0; rc == -EAGAIN && i < TRIES; i++) {
		ins_thread_stack_free(&stack);
		rc = look(r, tid, &stack, &fiber);
	}
	/* It ran at every attempt. */
	if (rc == -EAGAIN) {
		fiber = (struct ins_fiber){
			.now = fiber.now, .flags = INS_FIBER_MOVING, .row = fiber.row};
		fiber.row.state = FIBER_RUNNING;
		fiber.row.wait_kind = FIB_WAIT_NONE;
		fiber.row.wait_object = fiber.row.holder = 0;
		fiber.row.stack_low = fiber.row.stack_size = fiber.row.stack_used = 0;
		fiber.flags |= INS_FIBER_THREAD;
		rc = 0;
	}
	if (rc == 0) {
		r->summary->shown++;
		rc = fn(context, &fiber);
	} else if (rc != -ENOMEM) {
		rc = 0;
	}
	ins_thread_stack_free(&stack);
	return rc;
}

/* Find the numbers that the threads have in the process. */
static int find_numbers(struct reading *r)
{
	struct ins_thread_at at;
	size_t i;

	for (i = 0; i < r->ids.count; i++) {
		if (r->shown->base->thread_at(r->source, r->ids.tid[i], INS_THREAD_MOVES, &at) < 0)
			continue;
		if (at.inner == at.tid && !r->inner)
			return 0;
		if (!r->inner)
			r->inner = calloc(r->ids.count, sizeof *r->inner);
		if (!r->inner)
			return -ENOMEM;
		r->inner[i] = at.inner;
	}
	return 0;
}

static int begin(struct reading *r)
{
	int rc = r->shown->base->threads(r->source, &r->ids);

	if (rc == 0 && !r->shown->unwinder)
		rc = ins_unwinder_new(r->source, &r->shown->unwinder);
	if (rc == 0 && !r->shown->symbols)
		rc = ins_symbols_new(r->source->modules, &r->shown->symbols);
	if (rc < 0)
		return rc;
	qsort(r->ids.tid, r->ids.count, sizeof r->ids.tid[0], by_number);
	return find_numbers(r);
}

static int read_all(struct ins_source *source, const struct ins_request *request, ins_fiber_fn *fn,
		    void *context, struct ins_summary *ret, struct ins_error *error)
{
	struct reading r = {
		.shown = shown_of(source), .source = source, .request = request, .summary = ret};
	const int64_t start = ins_duration_now();
	size_t i;
	int rc;

	if (strcmp(source->kind, "live") == 0)
		r.descriptors.pid = source->pid;
	rc = begin(&r);

	ret->threads = true;
	ret->fiberless = r.shown->fiberless;
	ret->total = r.ids.count;
	for (i = 0; rc == 0 && i < r.ids.count; i++)
		if (!request->id || request->id == r.ids.tid[i])
			rc = emit(&r, r.ids.tid[i], fn, context);
	free(r.ids.tid);
	free(r.inner);
	ins_descriptors_free(&r.descriptors);
	if (strcmp(source->kind, "core") != 0)
		ret->sampled_ns = ins_duration_now() - start;
	if (rc == -ENOMEM)
		return ins_error_set(error, rc, "out of memory");
	if (rc == 0 && request->id && !ret->shown)
		return ins_error_set(error, -ESRCH, "thread %llu: no such thread in process %d",
				     (unsigned long long)request->id, (int)source->pid);
	return rc;
}

static void close_shown(struct ins_source *source)
{
	struct shown *shown = shown_of(source);

	ins_symbols_free(shown->symbols);
	ins_unwinder_free(shown->unwinder);
	source->ops = shown->base;
	free(shown);
	source->ops->close(source);
}

int ins_threads_show(struct ins_source *source, bool fiberless)
{
	struct shown *shown;

	if (!source->ops->threads || !source->ops->thread_at || !source->memory)
		return -EOPNOTSUPP;
	shown = calloc(1, sizeof *shown);
	if (!shown)
		return -ENOMEM;
	shown->fiberless = fiberless;
	shown->base = source->ops;
	shown->ops = *source->ops;
	shown->ops.read = read_all;
	shown->ops.close = close_shown;
	source->ops = &shown->ops;
	return 0;
}

bool ins_threads_shown(const struct ins_source *source)
{
	return source->ops->read == read_all;
}
