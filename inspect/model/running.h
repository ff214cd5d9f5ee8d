/* SPDX-License-Identifier: MIT */
/*
 * running.h - what a running fiber does, and its stack, as far as that is known without a stop
 *
 * The registers of a running fiber are its thread's. The kernel reports sp and pc of a thread that
 * sleeps in a system call, and a core has all registers. So a fiber that waits while it is pinned, or
 * that blocks its carrier in a system call, has a stack that can be walked. One that computes has none.
 */
#ifndef INS_RUNNING_H
#define INS_RUNNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/model/source.h"
#include "inspect/model/thread_stack.h"

enum ins_doing {
	INS_DOING_UNKNOWN,
	INS_DOING_COMPUTES, /* it is in no system call */
	INS_DOING_CALLS,    /* it is in a system call */
	INS_DOING_FAULTS,   /* it sleeps until its memory is loaded */
};

struct ins_running {
	enum ins_doing doing;
	int64_t call; /* CALLS: the number; or INS_THREAD_STACK_CALL_UNKNOWN */
	/* For a walk (unwind.h), if fiber.stack: the fiber at a later moment of the same run. */
	struct ins_fiber fiber;
	unsigned char *bytes; /* owned: the bytes of the stack */
};

/*
 * Find out what a fiber does whose row says that it runs. 0, also if nothing is known; -EOPNOTSUPP: it
 * does not run, the source cannot tell, or this was asked 1,024 times since the fibers were read; or another negative errno. After 0 the caller frees *ret.
 */
int ins_running_read(struct ins_source *source, const struct ins_fiber *fiber,
		     struct ins_running *ret);
void ins_running_free(struct ins_running *running);

/* "computing", "in system call nanosleep", "in a system call", "waiting for memory", "". Returns buf. */
const char *ins_running_words(enum ins_doing doing, int64_t call, char *buf, size_t size);

/* -- for sources -- */

/* Reset *ret to a fiber of which nothing is known. */
void ins_running_begin(const struct ins_fiber *fiber, struct ins_running *ret);

/*
 * Complete *ret by the thread that runs its fiber. Takes the bytes of the stack, if they are of the
 * fiber's. halted: the thread was stopped, so that it may be in no call without a wait for memory.
 */
void ins_running_take(struct ins_thread_stack *thread, bool halted, struct ins_running *ret);

#endif
