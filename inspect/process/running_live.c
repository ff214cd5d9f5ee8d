/* SPDX-License-Identifier: MIT */
/*
 * running_live.c - what a running fiber of a live process does
 *
 * A record does not say which thread runs its fiber, but /proc reports the stack pointer of each thread
 * that sleeps. The thread whose stack pointer is in the fiber's stack runs it, in a system call. If
 * there is none, the fiber computes, provided that some thread runs and that no thread is hidden.
 *
 * The fiber may go on meanwhile. What was found counts only if it is still in the same run.
 */
#include "inspect/process/running_live.h"

#include <errno.h>
#include <string.h>

#include "inspect/process/permission.h"
#include "inspect/process/thread.h"
#include "inspect/process/thread_stack_live.h"
#include "inspect/process/threads.h"

struct search {
	uint64_t tid; /* the thread that sleeps on the fiber's stack; 0: none */
	bool runs;    /* a thread uses a CPU, or waits for one */
	bool hidden;  /* where a thread sleeps may not be read */
};

static void search(const struct ins_source *source, const struct fib_row *row, struct search *ret)
{
	struct ins_threads threads = {0};
	struct fib_sleeper_place place;
	size_t i;

	*ret = (struct search){0};
	ins_threads_list(source->pid, &threads);
	for (i = 0; i < threads.count && !ret->tid; i++) {
		const uint64_t tid = (uint64_t)threads.at[i].tid;
		const int rc = ins_thread_place(source->pid, tid, &place);

		if (rc == 1 && place.sp - row->stack_low < row->stack_size)
			ret->tid = tid;
		ret->runs |= rc == 0;
		ret->hidden |= rc < 0 && rc != -ENOENT && rc != -ESRCH && rc != -EPROTO;
	}
	ins_threads_free(&threads);
}

/* Whether the fiber has not been switched since its row was read. */
static bool is_same_run(struct ins_source *source, const struct fib_row *row)
{
	const struct fib_layout_field *f = source->layout.fields;
	uint64_t seq, id;

	return source->memory(source, row->record + f[FIB_FIELD_SEQ].offset, &seq, sizeof seq) ==
		       0 &&
	       source->memory(source, row->record + f[FIB_FIELD_ID].offset, &id, sizeof id) == 0 &&
	       seq == row->seq && id == row->id;
}

static bool is_halted(pid_t pid)
{
	char state[64];

	return ins_permission_status(pid, "State", state, sizeof state) == 0 &&
	       (state[0] == 'T' || state[0] == 't');
}

int ins_running_live(struct ins_source *source, struct ins_running *ret)
{
	const struct fib_row row = ret->fiber.row;
	struct ins_thread_stack stack;
	struct search found;
	int rc;

	if (!row.stack_low || !row.stack_size)
		return 0;
	search(source, &row, &found);
	if (!found.tid) {
		if (found.runs && !found.hidden && is_same_run(source, &row))
			ret->doing = INS_DOING_COMPUTES;
		return 0;
	}
	rc = ins_thread_stack_asleep(source, found.tid, &stack);
	if (rc < 0)
		return rc;
	/* A thread that has woken since then may run another fiber. */
	if (stack.state == FIB_WIRE_THREAD_SLEEPS && is_same_run(source, &row))
		ins_running_take(&stack, is_halted(source->pid), ret);
	ins_thread_stack_free(&stack);
	return 0;
}
