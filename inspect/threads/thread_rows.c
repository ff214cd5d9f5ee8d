/* SPDX-License-Identifier: MIT */
/*
 * thread_rows.c - make a row of a thread of a source's program
 *
 * A thread of a live process is not stopped. Its place is read, then its stack and the object that
 * it waits for, then its place again. If the place and the count of its context switches are the
 * same, the thread has slept all the time and the row is consistent. Otherwise all is read again.
 */
#include "inspect/threads/thread_rows.h"

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
#include "inspect/text/member.h"
#include "inspect/threads/restarted.h"
#include "inspect/threads/thread_wait.h"
#include "inspect/unwind/thread_stack_walk.h"

#define TRIES	     8
#define THREADS_MOST 4194304u /* Linux has no larger thread id */

struct ins_thread_rows {
	struct ins_source *source;
	const struct ins_source_ops *base; /* of the source itself */
	bool mixed;
	struct ins_unwinder *unwinder;
	struct ins_symbols *symbols;
	struct ins_walk walk;
	/* of a reading */
	const struct ins_request *request;
	struct ins_thread_ids ids;
	uint64_t *inner; /* numbers of ids in the process' pid namespace; NULL: they are the same */
	struct ins_descriptors descriptors; /* pid 0: not a live process */
	struct ins_fiber *ready;	    /* of ids, if the source has complete rows; else NULL */
	size_t room;			    /* of ready */
	size_t next;			    /* the one that is most likely asked for next */
	struct ins_summary summary;	    /* of these */
};

/* Make a row without a wait. */
static void make_row(const struct ins_thread_at *at, struct ins_fiber *ret)
{
	struct fib_row *row = &ret->row;

	row->id = at->tid;
	row->record = at->inner;
	row->seq = 2 * at->switches;
	row->switches = at->switches;
	row->wait_arg = FIB_ROW_UNKNOWN;
	row->deadline = INT64_MAX;
	row->sp = at->registers.sp;
	row->cpu = at->cpu;
	row->runnable = at->runnable;
	row->waited = row->lived = row->stack_high_water = FIB_ROW_UNKNOWN;
	row->carrier = FIB_ROW_CARRIER_NONE;
	row->state = at->runs ? FIBER_RUNNING : FIBER_SUSPENDED;
	row->wait_kind = FIB_WAIT_NONE;
	snprintf(row->name, sizeof row->name, "%s", at->name);
	ret->flags |= INS_FIBER_THREAD;
}

static int thread_at(const struct ins_thread_rows *r, uint64_t tid, enum ins_thread_ask ask,
		     struct ins_thread_at *ret)
{
	const int rc = r->base->thread_at(r->source, tid, ask, ret);

	if (rc == 0)
		ret->call = ins_restarted_call(r->source, ret);
	return rc;
}

/* Whether the thread has slept since `before` was read. */
static bool still(const struct ins_thread_rows *r, const struct ins_thread_at *before)
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
static uint64_t number_of(const struct ins_thread_rows *r, uint64_t inner, bool *ret_exists)
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
 * Who holds what a thread waits for in this place; who: as the lock has it, like the result a
 * fiber's id, FIB_HOLDER_THREAD | number of a thread, or 0: unknown. A
 * thread that is not of this process may have exited. But it may also be of another process that
 * shares the lock, or of the parent, whose locks a forked child has a copy of: then it is unknown.
 */
static uint64_t holder_of(const struct ins_thread_rows *r, const struct ins_thread_at *at,
			  uint64_t who)
{
	const bool shared = at->call == SYS_futex && !(at->argument[1] & FUTEX_PRIVATE_FLAG);
	bool exists;
	uint64_t tid;

	if (!(who & FIB_HOLDER_THREAD))
		return who;
	tid = number_of(r, who & ~FIB_HOLDER_THREAD, &exists);
	if (!tid || (!exists && (shared || tid < (uint64_t)r->source->pid)))
		return 0;
	return FIB_HOLDER_THREAD | tid;
}

/* The same for a fiber or a thread that a thread joins. */
static uint64_t joined_by(const struct ins_thread_rows *r, uint64_t who)
{
	bool exists;
	uint64_t tid;

	if (!(who & FIB_HOLDER_THREAD))
		return who;
	tid = number_of(r, who & ~FIB_HOLDER_THREAD, &exists);
	return exists ? FIB_HOLDER_THREAD | tid : 0;
}

/* A holder as the rows have it. */
static uint64_t in_row(const struct ins_thread_rows *r, uint64_t who)
{
	if (r->mixed)
		return who;
	return who & FIB_HOLDER_THREAD ? who & ~FIB_HOLDER_THREAD : 0;
}

/*
 * Walk to find what the thread waits for. A walk that is truncated further out does not matter here,
 * so no problem is reported.
 */
static void walk_quietly(struct ins_thread_rows *r, const struct ins_thread_stack *stack)
{
	struct ins_problems *problems = &r->source->problems, kept = *problems;

	memset(problems, 0, sizeof *problems);
	ins_thread_stack_walk(r->unwinder, stack, &r->walk);
	ins_problems_free(problems);
	*problems = kept;
}

/* Find what the thread waits for. at->registers.pc is not 0. */
static void find_wait(struct ins_thread_rows *r, const struct ins_thread_at *at,
		      const struct ins_thread_stack *stack, struct ins_fiber *fiber)
{
	struct ins_sleeper sleeper = {
		.source = r->source,
		.symbols = r->symbols,
		.at = at,
		.walk = &r->walk,
		.descriptors = r->descriptors.pid ? &r->descriptors : NULL,
		.now = fiber->now,
	};
	struct fib_row *row = &fiber->row;

	r->walk.count = 0;
	if (stack->bytes && ins_thread_wait_needs_walk(at))
		walk_quietly(r, stack);
	ins_thread_wait(&sleeper, row);
	row->holder = in_row(r, holder_of(r, at, row->holder));
	if (row->wait_kind == FIB_WAIT_JOIN && row->wait_arg != FIB_ROW_UNKNOWN) {
		row->wait_arg = in_row(r, joined_by(r, row->wait_arg));
		row->wait_arg = row->wait_arg ? row->wait_arg : FIB_ROW_UNKNOWN;
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
static int stop(struct ins_thread_rows *r, const struct ins_thread_at *at,
		struct ins_thread_stack *stack, struct ins_fiber *fiber)
{
	const struct ins_source_ops *base = r->base;
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
static int look(struct ins_thread_rows *r, uint64_t tid, struct ins_thread_stack *stack,
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

/* Make a row of a thread that runs. */
static void forget_wait(struct fib_row *row)
{
	row->state = FIBER_RUNNING;
	row->wait_kind = FIB_WAIT_NONE;
	row->wait_object = row->holder = 0;
	row->wait_arg = FIB_ROW_UNKNOWN;
	row->deadline = INT64_MAX;
	row->object_name[0] = 0;
	row->stack_low = row->stack_size = row->stack_used = 0;
}

/* Make room for more rows of the source. -ENOMEM. */
static int grow(struct ins_thread_rows *r)
{
	const size_t room = r->room ? 2 * r->room : 64;
	struct ins_fiber *ready = realloc(r->ready, room * sizeof *ready);
	uint64_t *tid;

	if (!ready)
		return -ENOMEM;
	r->ready = ready;
	tid = realloc(r->ids.tid, room * sizeof *tid);
	if (!tid)
		return -ENOMEM;
	r->ids.tid = tid;
	r->room = room;
	return 0;
}

/* Take a row that the source has. */
static int take_ready(void *context, const struct ins_fiber *fiber)
{
	struct ins_thread_rows *r = context;
	const size_t n = r->ids.count;

	if (n == THREADS_MOST)
		return -E2BIG;
	if (n == r->room && grow(r) < 0)
		return -ENOMEM;
	r->ready[n] = *fiber;
	r->ready[n].flags |= INS_FIBER_THREAD;
	r->ids.tid[n] = fiber->row.id & ~FIB_HOLDER_THREAD;
	r->ids.count++;
	return 0;
}

static int read_ready(struct ins_thread_rows *r, struct ins_error *error)
{
	int rc;

	r->summary = (struct ins_summary){0};
	rc = r->base->thread_rows(r->source, r->request, take_ready, r, &r->summary, error);
	if (rc == -E2BIG)
		return ins_error_set(error, -EINVAL, "%s: has more than %u threads: it is damaged",
				     r->source->name, THREADS_MOST);
	return rc == -ENOMEM ? ins_error_set(error, rc, "out of memory") : rc;
}

/* The index of a thread among the rows that the source has; their count: none. */
static size_t find_ready(struct ins_thread_rows *r, uint64_t tid)
{
	const size_t n = r->ids.count;
	size_t i, at = r->next < n ? r->next : 0;

	/* All are asked for in their order. */
	for (i = 0; i < n; i++) {
		if (r->ids.tid[at] == tid) {
			r->next = at + 1;
			return at;
		}
		at = at + 1 == n ? 0 : at + 1;
	}
	return n;
}

/* Pass a row that the source has. */
static int pass_ready(struct ins_thread_rows *r, uint64_t tid, ins_fiber_fn *fn, void *context,
		      bool *ret_there)
{
	const size_t i = find_ready(r, tid);
	struct ins_fiber fiber;
	struct fib_row *row = &fiber.row;

	*ret_there = i < r->ids.count;
	if (!*ret_there)
		return 0;
	fiber = r->ready[i];
	if (!r->mixed) {
		row->id = tid;
		row->holder = in_row(r, row->holder);
		if (row->wait_kind == FIB_WAIT_JOIN && row->wait_arg != FIB_ROW_UNKNOWN)
			row->wait_arg = in_row(r, row->wait_arg);
		if (row->wait_kind == FIB_WAIT_JOIN && !row->wait_arg)
			row->wait_arg = FIB_ROW_UNKNOWN;
	}
	return fn(context, &fiber);
}

int ins_thread_rows_look(struct ins_thread_rows *rows, uint64_t tid, ins_fiber_fn *fn,
			 void *context, bool *ret_there)
{
	struct ins_thread_stack stack = {0};
	struct ins_fiber fiber;
	int rc = -EAGAIN;
	unsigned i;

	if (rows->base->thread_rows)
		return pass_ready(rows, tid, fn, context, ret_there);
	for (i = 0; rc == -EAGAIN && i < TRIES; i++) {
		ins_thread_stack_free(&stack);
		rc = look(rows, tid, &stack, &fiber);
	}
	/* It ran at every attempt. */
	if (rc == -EAGAIN) {
		fiber = (struct ins_fiber){.now = fiber.now,
					   .flags = INS_FIBER_MOVING | INS_FIBER_THREAD,
					   .row = fiber.row};
		forget_wait(&fiber.row);
		rc = 0;
	}
	*ret_there = rc == 0;
	if (rc == 0 && rows->mixed)
		fiber.row.id |= FIB_HOLDER_THREAD;
	if (rc == 0)
		rc = fn(context, &fiber);
	else if (rc != -ENOMEM)
		rc = 0;
	ins_thread_stack_free(&stack);
	return rc;
}

/* Find the numbers that the threads have in the process. */
static int find_numbers(struct ins_thread_rows *r)
{
	struct ins_thread_at at;
	size_t i;

	for (i = 0; i < r->ids.count; i++) {
		if (r->base->thread_at(r->source, r->ids.tid[i], INS_THREAD_MOVES, &at) < 0)
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

bool ins_thread_rows_possible(const struct ins_source *source)
{
	const struct ins_source_ops *ops = source->ops;

	return ops->thread_rows || (ops->threads && ops->thread_at && source->memory);
}

int ins_thread_rows_new(struct ins_source *source, const struct ins_source_ops *base, bool mixed,
			struct ins_thread_rows **ret)
{
	struct ins_thread_rows *r = calloc(1, sizeof *r);

	*ret = r;
	if (!r)
		return -ENOMEM;
	r->source = source;
	r->base = base;
	r->mixed = mixed;
	return 0;
}

void ins_thread_rows_free(struct ins_thread_rows *rows)
{
	if (!rows)
		return;
	ins_symbols_free(rows->symbols);
	ins_unwinder_free(rows->unwinder);
	free(rows);
}

int ins_thread_rows_begin(struct ins_thread_rows *rows, const struct ins_request *request,
			  struct ins_error *error)
{
	int rc;

	rows->request = request;
	if (rows->base->thread_rows)
		return read_ready(rows, error);
	if (strcmp(rows->source->kind, "live") == 0)
		rows->descriptors.pid = ins_member(rows->source->pid);
	rc = rows->base->threads(rows->source, &rows->ids);
	if (rc == 0 && !rows->unwinder)
		rc = ins_unwinder_new(rows->source, &rows->unwinder);
	if (rc == 0 && !rows->symbols)
		rc = ins_symbols_new(rows->source->modules, &rows->symbols);
	if (rc == 0) {
		qsort(rows->ids.tid, rows->ids.count, sizeof rows->ids.tid[0], by_number);
		rc = find_numbers(rows);
	}
	return rc < 0 ? ins_error_set(error, rc, "out of memory") : 0;
}

void ins_thread_rows_taken(const struct ins_thread_rows *rows, struct ins_summary *ret)
{
	ret->sampled_ns = rows->summary.sampled_ns;
	ret->taken = rows->summary.taken;
	ret->host = rows->summary.host;
}

size_t ins_thread_rows_count(const struct ins_thread_rows *rows)
{
	return rows->ids.count;
}

uint64_t ins_thread_rows_tid(const struct ins_thread_rows *rows, size_t i)
{
	return rows->ids.tid[i];
}

void ins_thread_rows_end(struct ins_thread_rows *rows)
{
	free(rows->ids.tid);
	free(rows->inner);
	free(rows->ready);
	rows->ready = NULL;
	rows->room = rows->next = 0;
	ins_descriptors_free(&rows->descriptors);
	rows->ids = (struct ins_thread_ids){0};
	rows->inner = NULL;
	rows->descriptors = (struct ins_descriptors){0};
}
