/* SPDX-License-Identifier: MIT */
/* thread.h - what belongs to a thread: its own stack, the running fiber, the last error */
#ifndef FIB_WIN32_THREAD_H
#define FIB_WIN32_THREAD_H

#include <stdbool.h>

#include <fiber/win32.h>

#include "execution.h"
#include "locals.h"

/* A fiber, as programs hold it. `data` is first: on Windows GetFiberData() reads the first word. */
struct fib_win32_fiber {
	void *data;
	struct fib_win32_execution *execution; /* one reference */
	struct fib_win32_locals *locals; /* of the fiber, while a thread is it or it is suspended */
	PFIBER_START_ROUTINE fn;
};

struct fib_win32_thread {
	struct fib_win32_execution *own;     /* of its own stack; one reference */
	struct fib_win32_execution *running; /* what it runs on now */
	struct fib_win32_fiber *fiber;	     /* NULL: it is a plain thread */
	struct fib_win32_locals *locals;     /* of the plain thread; NULL while it is a fiber */
	DWORD error;			     /* GetLastError() */
	DWORD code;			     /* if it exits */
	bool exits; /* it is to call pthread_exit() when it is back on its own stack */
};

/*
 * The calling thread's data, made at the first call. NULL without memory. The result is the thread's:
 * call it again after a switch.
 */
struct fib_win32_thread *fib_win32_thread(void);

/* The same, NULL if it was never made. */
struct fib_win32_thread *fib_win32_thread_made(void);

/* Store the thread's error. Returns NULL, for callers that do too. */
void *fib_win32_fail(DWORD error);

/* The values that the running fiber, or the plain thread, stores into. */
struct fib_win32_locals **fib_win32_thread_locals(struct fib_win32_thread *thread);

/* End a fiber that does not run, or is the caller's and does not continue: its callbacks are called,
 * here, and its handle is released. */
void fib_win32_fiber_end(struct fib_win32_fiber *fiber);

/* End the calling thread, and with it the fiber that it runs. */
_Noreturn void fib_win32_thread_exit(struct fib_win32_thread *thread, DWORD code);

/* Call it after each switch: the thread exits if that was the reason for the switch. */
void fib_win32_thread_arrived(void);

/* From now on the callbacks of a thread that calls exit() are called, too. Any thread, once. */
void fib_win32_thread_follow_exit(void);

#endif
