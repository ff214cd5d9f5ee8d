/* SPDX-License-Identifier: MIT */
/* execution.h - a stack and what runs on it: of a thread, or made for a fiber */
#ifndef FIB_WIN32_EXECUTION_H
#define FIB_WIN32_EXECUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fiber/context.h>
#include <fiber_layout.h>

/*
 * I set when it is made · R the thread that runs it · T the thread that switches to it, before the
 * switch · A any thread, atomic
 */
struct fib_win32_execution {
	struct fiber_context context; /* R */
	struct fiber_stack stack;     /* I: base NULL: the stack is a thread's */
	const void *thread;	      /* I: that thread; NULL: it may run on every thread */
	const void *low;	      /* I: lowest address of the stack, NULL: unknown */
	size_t size;		      /* I */
	void (*fn)(void *arg);	      /* I */
	void *arg;		      /* I */
	struct fiber_layout_record *shown;
	struct fib_win32_execution *came_from; /* T: the one that was left for it */
	int64_t since;			       /* T: when that was, fib_win32_shown_now() */
	uint32_t refs;			       /* A: of its fiber, and of its thread */
	uint32_t busy; /* A: execution.busy: a thread runs it, or will in a moment */
	uint32_t over; /* A: its thread has exited */
	bool ended;    /* R: it was left for the last time */
};

/*
 * Make an execution of fn(arg) on a new stack of at least size bytes. entry: the function that the
 * tools name. floats: it has FPU control words of its own. fn must not return. Returns 0 and one
 * reference, or a negative errno.
 */
int fib_win32_execution_new(size_t size, bool floats, void (*fn)(void *arg), void *arg,
			    uint64_t entry, uint64_t parent, struct fib_win32_execution **ret);

/* Get an execution for the calling thread's own stack, with one reference. thread: what it is of.
 * Returns NULL without memory. */
struct fib_win32_execution *fib_win32_execution_own(const void *thread);

/* Before the first switch from the calling thread's own stack, and again after a time as a plain
 * thread: floats as above. The tools show it from now on. */
void fib_win32_execution_open(struct fib_win32_execution *own, bool floats);

/* The thread is a plain one again, on its own stack: the tools do not show it any more. */
void fib_win32_execution_close(struct fib_win32_execution *own);

/* Leave from, which the caller runs on, and continue to, which no thread runs. Returns when from is
 * continued, perhaps by another thread. */
void fib_win32_execution_switch(struct fib_win32_execution *from, struct fib_win32_execution *to);

/* The same for good: from loses a reference when it was left. */
_Noreturn void fib_win32_execution_end(struct fib_win32_execution *from,
				       struct fib_win32_execution *to);

/* Add a reference; remove one, and free it with the last. No thread runs it then. */
void fib_win32_execution_ref(struct fib_win32_execution *e);
void fib_win32_execution_unref(struct fib_win32_execution *e);

/* Whether a thread runs it. After false, the caller sees all that this thread did on it. */
bool fib_win32_execution_busy(const struct fib_win32_execution *e);

#endif
