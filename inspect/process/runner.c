/* SPDX-License-Identifier: MIT */
/*
 * runner.c - find the thread that runs a fiber and copy the fiber
 *
 * A record says that its fiber runs, and on which carrier, but not on which thread. The threads'
 * stack pointers show that. For a thread that waits in the kernel, /proc gives the stack pointer
 * without a stop. So idle carriers and unrelated threads are not stopped.
 *
 * The other threads are stopped one after another: first those last seen on this stack, then those
 * with a carrier's name, then the rest. The search ends when the fiber is found or has moved.
 *
 * The copy is of the fiber if the record, copied during the same stop, has the same id, an odd seq
 * and the same stack. Even then the frames may be of another fiber that has just exited on the
 * stack on which this fiber is about to start. The walk detects that in the outermost frame
 * (unwind.c).
 *
 * If a fiber runs and no thread is on its stack, there are two cases. It may be in a signal handler
 * on an alternate stack; then the registers that the kernel saved point to the fiber's stack. Or it
 * is being switched in or out. Then its saved frame is valid only if nothing moves, so only in a
 * stopped process.
 */
#include "inspect/process/runner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "inspect/text/duration.h"
#include "inspect/process/pause.h"
#include "inspect/process/permission.h"
#include "inspect/process/threads.h"
#include "inspect/process/tracer.h"

#define CARRIER	  "fiber-carrier"
#define ROUNDS	  2
#define STACK_MAX (16u << 20)

struct ins_runners {
	struct ins_source *source;
	struct ins_threads threads;
	bool listed;
	bool refused; /* threads may not be stopped; this was reported */
	struct ins_pause pause;
	size_t bytes_room;
};

int ins_runners_new(struct ins_source *source, const struct ins_memory *memory,
		    struct ins_runners **ret)
{
	struct ins_runners *r = calloc(1, sizeof *r);

	if (!r)
		return -ENOMEM;
	r->source = source;
	r->pause.memory = memory;
	r->pause.record_size = source->layout.record_size;
	r->pause.to_record = malloc(source->layout.record_size);
	if (!r->pause.to_record) {
		free(r);
		return -ENOMEM;
	}
	*ret = r;
	return 0;
}

void ins_runners_free(struct ins_runners *runners)
{
	if (!runners)
		return;
	ins_threads_free(&runners->threads);
	free(runners->pause.to_record);
	free(runners->pause.bytes);
	free(runners);
}

void ins_runners_begin(struct ins_runners *runners)
{
	runners->listed = false;
}

static bool on_stack(const struct fib_row *row, uint64_t sp)
{
	return sp - row->stack_low <= row->stack_size;
}

static bool same(struct ins_runners *r, const struct fib_row *row)
{
	const struct fib_layout_field *f = r->source->layout.fields;
	uint64_t seq, id;

	return r->source->memory(r->source, row->record + f[FIB_FIELD_SEQ].offset, &seq,
				 sizeof seq) == 0 &&
	       r->source->memory(r->source, row->record + f[FIB_FIELD_ID].offset, &id, sizeof id) ==
		       0 &&
	       seq == row->seq && id == row->id;
}

/*
 * Wait a little: the fiber may be switching, or the program's service thread may hold its record.
 */
static enum ins_runner_end moved(void)
{
	const struct timespec t = {0, 100000};

	nanosleep(&t, NULL);
	return INS_RUNNER_MOVED;
}

/* Allocate and touch room for row's stack, so that the copy does not page-fault. */
static bool make_room(struct ins_runners *r, const struct fib_row *row)
{
	const size_t size = ins_pause_room(row->stack_size);
	unsigned char *more;

	if (size <= r->bytes_room)
		return true;
	more = realloc(r->pause.bytes, size);
	if (!more)
		return false;
	memset(more, 0, size < 1u << 20 ? size : 1u << 20);
	r->pause.bytes = more;
	r->bytes_room = size;
	return true;
}

/*
 * Decode the record that was copied with the fiber. False: it is of another fiber, or of one that
 * does not run.
 */
static bool decode(struct ins_runners *r, struct ins_fiber *fiber)
{
	const struct fib_row was = fiber->row;

	fiber->now = ins_duration_now();
	if (fib_row_decode(&r->source->layout, r->pause.to_record, was.record, fiber->now,
			   &fiber->row) &&
	    fiber->row.id == was.id && (fiber->row.seq & 1) &&
	    fiber->row.stack_low == was.stack_low && fiber->row.stack_size == was.stack_size)
		return true;
	fiber->row = was;
	return false;
}

static enum ins_runner_end fill(struct ins_runners *r, struct ins_fiber *fiber)
{
	const struct ins_pause *p = &r->pause;
	uint64_t below;

	if (!decode(r, fiber))
		return INS_RUNNER_MOVED;
	fiber->flags = INS_FIBER_PAUSED;
	ins_registers_give(&p->registers, fiber);
	if (p->aside_size) {
		below = p->registers.sp - p->aside_low;
		fiber->stack = p->bytes + p->size + below;
		fiber->stack_size = p->aside_size > below ? p->aside_size - below : 0;
		fiber->aside = p->low;
		fiber->aside_bytes = p->bytes;
		fiber->aside_size = p->size;
		return INS_RUNNER_TAKEN;
	}
	below = p->registers.sp - p->low;
	fiber->row.stack_used = fiber->row.stack_low + fiber->row.stack_size - p->registers.sp;
	fiber->stack = p->bytes + below;
	fiber->stack_size = p->size - below;
	if (fiber->stack_size < fiber->row.stack_used)
		fiber->flags |= INS_FIBER_CUT;
	fiber->aside = p->low;
	fiber->aside_bytes = p->bytes;
	fiber->aside_size = below;
	return INS_RUNNER_TAKEN;
}

/* Report that threads may not be stopped. */
static void say_refused(struct ins_runners *r, const struct ins_threads_one *t)
{
	char why[INS_TRACER_EXPLAIN_SIZE];

	r->refused = true;
	ins_problems_add(
		&r->source->problems,
		"running fibers were not stopped: %s; --no-pause leaves them out",
		ins_tracer_explain(r->source->pid, t->tid, r->pause.error, why, sizeof why));
}

/*
 * Copy from a thread in a system call that a stop would end. Its other registers stay unknown; a
 * walk seldom needs them.
 */
static enum ins_runner_end take_waiting(struct ins_runners *r, struct ins_threads_one *t,
					struct ins_fiber *fiber, uint64_t sp, uint64_t pc)
{
	struct ins_pause *p = &r->pause;
	uint64_t sp_after = 0, pc_after = 0;
	struct ins_memory_piece piece[2] = {{p->record, p->to_record, p->record_size}};

	p->aside_size = 0;
	p->low = sp;
	p->size = p->stack_low + p->stack_size - sp;
	p->size = p->size < STACK_MAX ? p->size : STACK_MAX;
	piece[1] = (struct ins_memory_piece){p->low, p->bytes, p->size};
	if (ins_memory_read(p->memory, piece, 2) < 0 ||
	    ins_threads_look(r->source->pid, t->tid, &sp_after, &pc_after) == INS_SIGHT_RUNS ||
	    sp != sp_after || pc != pc_after)
		return INS_RUNNER_MOVED;
	p->registers = (struct ins_registers){.sp = sp, .pc = pc};
	return fill(r, fiber);
}

/* NOT_FOUND: this thread does not run the fiber. */
static enum ins_runner_end try_thread(struct ins_runners *r, struct ins_threads_one *t,
				      struct ins_fiber *fiber, bool aside)
{
	uint64_t sp = 0, pc = 0;
	const enum ins_sight sight = ins_threads_look(r->source->pid, t->tid, &sp, &pc);

	if (sight != INS_SIGHT_RUNS && !aside && !on_stack(&fiber->row, sp))
		return INS_RUNNER_NOT_FOUND;
	if (sight == INS_SIGHT_FRAGILE)
		return aside ? INS_RUNNER_NOT_FOUND : take_waiting(r, t, fiber, sp, pc);
	r->pause.tid = t->tid;
	r->pause.aside = aside;
	switch (ins_pause(&r->pause, r->source->pauses)) {
	case INS_PAUSE_TAKEN:
		t->sp = r->pause.registers.sp;
		return fill(r, fiber);
	case INS_PAUSE_ELSEWHERE:
		t->sp = r->pause.registers.sp;
		break;
	case INS_PAUSE_REFUSED:
		say_refused(r, t);
		break;
	case INS_PAUSE_LATE:
		t->late = true;
		ins_problems_add(&r->source->problems,
				 "thread %d did not stop: it waits in the kernel, or gets no CPU",
				 (int)t->tid);
		break;
	case INS_PAUSE_NO_PORT:
		r->refused = true;
		ins_problems_add(
			&r->source->problems,
			"running fibers were not stopped: the registers of this machine are "
			"not known; --no-pause leaves them out");
		break;
	case INS_PAUSE_GONE:
		break;
	}
	return same(r, &fiber->row) ? INS_RUNNER_NOT_FOUND : INS_RUNNER_MOVED;
}

/* 0: last seen on this stack; 1: has the name of a carrier; 2: any other thread. */
static int rank(const struct ins_threads_one *t, const struct fib_row *row)
{
	return t->sp && on_stack(row, t->sp) ? 0 : strcmp(t->name, CARRIER) == 0 ? 1 : 2;
}

static enum ins_runner_end try_all(struct ins_runners *r, struct ins_fiber *fiber, bool aside)
{
	const struct fib_row row = fiber->row;
	enum ins_runner_end end;
	int turn;
	size_t i;

	for (turn = 0; turn < 3; turn++) {
		for (i = 0; i < r->threads.count && !r->refused; i++) {
			struct ins_threads_one *t = &r->threads.at[i];

			/* A rank changes only when the thread is tried, so no thread is missed. */
			if (t->late || rank(t, &row) != turn)
				continue;
			end = try_thread(r, t, fiber, aside);
			if (end != INS_RUNNER_NOT_FOUND)
				return end;
		}
	}
	return INS_RUNNER_NOT_FOUND;
}

static bool is_unchanged(struct ins_runners *r)
{
	char state[64];

	return ins_permission_status(r->source->pid, "State", state, sizeof state) == 0 &&
	       (state[0] == 'T' || state[0] == 't');
}

/* No thread is on the fiber's stack. */
static enum ins_runner_end take_switching(struct ins_runners *r, struct ins_fiber *fiber)
{
	struct ins_pause *p = &r->pause;
	const struct fib_layout_field *f = r->source->layout.fields;
	uint64_t context[2] = {0, 0};
	struct ins_memory_piece piece[3] = {
		{fiber->row.record + f[FIB_FIELD_SP].offset, &context[0], 8},
		{fiber->row.record + f[FIB_FIELD_PC].offset, &context[1], 8},
	};
	const uint64_t top = fiber->row.stack_low + fiber->row.stack_size;

	fiber->flags = INS_FIBER_SWITCHING;
	fiber->stack = NULL;
	fiber->stack_size = 0;
	if (!is_unchanged(r) || ins_memory_read(p->memory, piece, 2) < 0 || !context[0] ||
	    !on_stack(&fiber->row, context[0]) || top - context[0] > STACK_MAX)
		return same(r, &fiber->row) ? INS_RUNNER_TAKEN : INS_RUNNER_MOVED;
	piece[2] = (struct ins_memory_piece){context[0], p->bytes, top - context[0]};
	if (ins_memory_read(p->memory, &piece[2], 1) == 0 && is_unchanged(r)) {
		fiber->row.sp = context[0];
		fiber->row.pc = context[1];
		fiber->stack = p->bytes;
		fiber->stack_size = top - context[0];
	}
	return same(r, &fiber->row) ? INS_RUNNER_TAKEN : INS_RUNNER_MOVED;
}

enum ins_runner_end ins_runners_take(struct ins_runners *runners, struct ins_fiber *fiber)
{
	enum ins_runner_end end = INS_RUNNER_NOT_FOUND;
	int round;

	fiber->registers.known = 0;
	fiber->aside_size = 0;
	if (runners->refused || !fiber->row.stack_low || !fiber->row.stack_size ||
	    !make_room(runners, &fiber->row))
		return INS_RUNNER_NOT_FOUND;
	if (!runners->listed)
		ins_threads_list(runners->source->pid, &runners->threads);
	runners->listed = true;
	runners->pause.record = fiber->row.record;
	runners->pause.stack_low = fiber->row.stack_low;
	runners->pause.stack_size = fiber->row.stack_size;
	/* A thread that was switching to the fiber in the first round runs it in the second. */
	for (round = 0; round < ROUNDS && end == INS_RUNNER_NOT_FOUND; round++)
		end = try_all(runners, fiber, false);
	if (end == INS_RUNNER_NOT_FOUND)
		end = try_all(runners, fiber, true);
	if (end == INS_RUNNER_NOT_FOUND && !runners->refused)
		end = take_switching(runners, fiber);
	return end == INS_RUNNER_MOVED ? moved() : end;
}
