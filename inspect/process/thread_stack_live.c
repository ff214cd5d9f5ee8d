/* SPDX-License-Identifier: MIT */
/*
 * thread_stack_live.c - copy the stack of a thread of a live process
 *
 * A thread that sleeps is not stopped. The place where it sleeps is read before and after the copy.
 * If the thread slept in the same place and has not yielded its CPU in between, it has not run, so
 * the copy is consistent. Otherwise it is copied again.
 */
#include "inspect/process/thread_stack_live.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "inspect/process/thread.h"
#include "inspect/process/thread_state.h"

#define TRIES 8

/*
 * The count of voluntary context switches; "": unknown. An unchanged count means that the thread
 * has not run since.
 */
static void count_sleeps(const struct ins_source *source, uint64_t tid, char buf[32])
{
	ins_thread_status(source->pid, tid, "voluntary_ctxt_switches", buf, 32);
}

static enum fib_wire_thread_state nowhere(int rc)
{
	if (rc == 0)
		return FIB_WIRE_THREAD_RUNS;
	return rc == -ENOENT || rc == -ESRCH ? FIB_WIRE_THREAD_ENDED : FIB_WIRE_THREAD_HIDDEN;
}

/* Try once. -EAGAIN: the thread did not sleep in one place all the time; -ENOMEM. */
static int look(struct ins_source *source, uint64_t tid, struct ins_thread_stack *ret)
{
	struct ins_registers registers = {0};
	struct fib_sleeper_place before, after;
	char slept[32], sleeps[32];
	int rc;

	count_sleeps(source, tid, slept);
	rc = ins_thread_place(source->pid, tid, &before);
	if (rc != 1)
		return ins_thread_stack_none(ret, tid, nowhere(rc));
	registers.pc = before.pc;
	registers.sp = before.sp;
	rc = ins_thread_stack_registers(source, tid, &registers, ret);
	if (rc < 0)
		return rc;
	rc = ins_thread_place(source->pid, tid, &after);
	count_sleeps(source, tid, sleeps);
	if (rc != 1 || before.call != after.call || before.sp != after.sp ||
	    before.pc != after.pc || strcmp(slept, sleeps) != 0)
		return -EAGAIN;
	ret->call = before.call;
	return 0;
}

int ins_thread_stack_asleep(struct ins_source *source, uint64_t tid, struct ins_thread_stack *ret)
{
	int rc = -EAGAIN;
	unsigned i;

	ins_thread_stack_begin(ret, tid, FIB_WIRE_THREAD_HIDDEN);
	for (i = 0; rc == -EAGAIN && i < TRIES; i++) {
		ins_thread_stack_free(ret);
		rc = look(source, tid, ret);
	}
	return rc == -EAGAIN ? ins_thread_stack_none(ret, tid, FIB_WIRE_THREAD_MOVED) : rc;
}

int ins_thread_stack_live(struct ins_source *source, uint64_t tid, struct ins_thread_stack *ret)
{
	char name[INS_THREAD_NAME];

	ins_thread_stack_begin(ret, tid, FIB_WIRE_THREAD_HIDDEN);
	/* If the process numbers its threads differently, this number may be another thread's. */
	if (ins_thread_look(source->pid, tid, name) == INS_THREAD_UNKNOWN)
		return 0;
	return ins_thread_stack_asleep(source, tid, ret);
}

struct stopped {
	struct ins_source *source;
	struct ins_thread_stack *ret;
};

static int copy_stopped(void *context, const struct ins_thread_state *thread)
{
	const struct stopped *s = context;

	return ins_thread_stack_registers(s->source, (uint64_t)thread->tid, &thread->registers,
					  s->ret);
}

int ins_thread_stack_stopped(struct ins_source *source, uint64_t tid, struct ins_thread_stack *ret)
{
	struct stopped s = {source, ret};
	int rc;

	ins_thread_stack_begin(ret, tid, FIB_WIRE_THREAD_HIDDEN);
	rc = ins_thread_state_take((pid_t)tid, copy_stopped, &s, source->pauses);
	if (rc < 0 && rc != -ENOMEM) {
		ins_thread_stack_none(
			ret, tid, rc == -ESRCH ? FIB_WIRE_THREAD_ENDED : FIB_WIRE_THREAD_HIDDEN);
		snprintf(ret->why, sizeof ret->why, "it runs, and could not be stopped: %s",
			 strerror(-rc));
		rc = 0;
	}
	return rc;
}
