/* SPDX-License-Identifier: MIT */
/*
 * context.h - the layer underneath, for those who bring their own scheduler
 *
 * A context is an execution with a stack of its own. Any context may switch to any other: there
 * is no caller to return to, and who runs next is the program's choice. Nothing here needs a
 * runtime, nothing waits, and contexts are not fibers: the tools do not list them. A switch
 * keeps the callee-saved registers and the FPU control words, and makes no system call. It does
 * not keep what C++ notes of exceptions for the thread: do not switch in a catch block, nor in a
 * destructor that an exception calls (a fiber may wait there).
 *
 * Two threads must not run one context at once; a suspended one may go on on another thread, so
 * nothing thread-local may be kept across a switch. A thread's own context goes on on that
 * thread only.
 *
 * Inside a fiber, fiber_thread_to_context() gives the fiber's execution, and contexts may be
 * used as in a thread. But a fiber waits on its own stack: call what can wait there, and not in
 * a context beside it.
 *
 * No call is async-signal-safe.
 */
#ifndef FIBER_CONTEXT_H
#define FIBER_CONTEXT_H

#include <fiber/api.h>

FIBER_BEGIN_DECLS

/* The fields belong to the library. It must stay where it is from fiber_context_init() on. */
struct fiber_context {
	uint64_t opaque[16];
};

/* Where a context runs: [base, base + size). */
struct fiber_stack {
	void *base; /* the lowest usable address */
	size_t size;
	uint64_t opaque[3]; /* the library's, of a stack from fiber_stack_alloc() */
};

/*
 * Make a context that calls fn(arg) on [stack, stack + size) when it is first switched to. The
 * memory is the caller's and must stay until the context has ended. It begins with the FPU
 * control words of the caller of this function. fn must not return: where it does, one line is
 * printed and the program aborts; it leaves with fiber_context_end(). 0; -EINVAL without stack
 * or fn, or for less memory than a first frame needs. 16 KiB is a sensible least: the C library
 * alone takes several.
 */
FIBER_API int fiber_context_init(struct fiber_context *context, void *stack, size_t size,
				 void (*fn)(void *arg), void *arg);

/* Make *context stand for what runs now, so that others can switch back to it. To be called by the
 * thread (or fiber) itself, before it first leaves; it may be released when all others are done.
 * Always 0. */
FIBER_API int fiber_thread_to_context(struct fiber_context *context);

/* Save what runs now in *from, which must stand for it, and go on in *to. Returns when somebody
 * switches to *from. Switching to what runs already does nothing. */
FIBER_API void fiber_context_switch(struct fiber_context *from, struct fiber_context *to);

/* The same for the last time: *from will never be switched to again. Its stack may be used for
 * something else once *to runs. */
FIBER_API FIBER_NORETURN void fiber_context_end(struct fiber_context *from,
						struct fiber_context *to);

/* Forget a context that does not run and never will again, ended or not: what it has on its stack
 * is dropped, nothing is unwound. Only sanitizers hold anything for a context, so a program that
 * never runs under one may leave it out. */
FIBER_API void fiber_context_release(struct fiber_context *context);

/*
 * Get a stack of at least size usable bytes, with a guard of 64 KiB below it that faults on
 * overflow, as fibers have: memory is taken as it is touched, and tops are spread over the cache. Its
 * contents are whatever its last user left. 0; -EINVAL for a size of 1 GiB or more or without
 * ret; -ENOMEM, also when no guard can be made.
 */
FIBER_API int fiber_stack_alloc(size_t size, struct fiber_stack *ret);

/* Give it back; nobody runs on it any more. The memory is kept for the next one. A zeroed one is
 * fine. */
FIBER_API void fiber_stack_free(struct fiber_stack *stack);

FIBER_END_DECLS

#endif
