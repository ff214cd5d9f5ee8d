/* SPDX-License-Identifier: MIT */
/*
 * context.h - execution contexts, for programs with a scheduler of their own
 *
 * A context is an execution with its own stack. Any context may switch to any other: there is no
 * caller to return to, and the program chooses what runs next. Contexts need no runtime and no call
 * waits. Contexts are not fibers: the tools list only those that the program publishes with
 * <fiber_layout.h>, for which fiber_context_frame() is there.
 *
 * A switch keeps the callee-saved registers and the FPU control words, and makes no system call. It
 * does not keep the C++ runtime's per-thread state of exceptions: do not switch in a catch block or
 * in a destructor that an exception calls (a fiber may wait in both).
 *
 * Two threads must not run one context at the same time. A suspended context may continue on
 * another thread, so keep nothing thread-local across a switch. A thread's own context continues on
 * that thread only.
 *
 * Inside a fiber, fiber_thread_to_context() gives the fiber's execution, and contexts may be used
 * as in a thread. But a fiber waits on its own stack: make calls that can wait from there, not from
 * another context.
 *
 * No call is async-signal-safe.
 */
#ifndef FIBER_CONTEXT_H
#define FIBER_CONTEXT_H

#include <fiber/api.h>

FIBER_BEGIN_DECLS

/* The fields belong to the library. A context must not be moved after fiber_context_init(). */
struct fiber_context {
	uint64_t opaque[16] __attribute__((aligned(8))); /* i386 aligns it to 4 */
};

/* The memory a context runs on: [base, base + size). */
struct fiber_stack {
	void *base; /* the lowest usable address */
	size_t size;
	uint64_t opaque[3]; /* belongs to the library, in a stack from fiber_stack_alloc() */
};

/*
 * Make a context that calls fn(arg) on [stack, stack + size) when it is first switched to. The
 * memory is the caller's and must stay until the context has ended. The context starts with the FPU
 * control words of the caller of this function. fn must not return; it leaves with
 * fiber_context_end(). If fn returns, one line is printed and the program aborts.
 *
 * Returns 0; -EINVAL without stack or fn, or when size is less than a first frame needs. 16 KiB is
 * a sensible minimum: the C library alone uses several KiB.
 */
FIBER_API int fiber_context_init(struct fiber_context *context, void *stack, size_t size,
				 void (*fn)(void *arg), void *arg);

/* Make *context represent the calling execution, so that other contexts can switch back to it. The
 * thread (or fiber) itself calls this before its first switch. The context may be released when all
 * others have ended. Always returns 0. */
FIBER_API int fiber_thread_to_context(struct fiber_context *context);

/*
 * The context shares the FPU control words with the contexts that it is switched to and from. A switch
 * between two such contexts leaves the words as they are, and takes a fraction of the time. Between a
 * context that shares them and one that does not, the next context gets the words with which it was
 * made or, if it does not share them, last left. Call it after fiber_context_init() or
 * fiber_thread_to_context(), before the first switch. Always returns 0; a port that cannot omit the
 * words keeps them.
 */
FIBER_API int fiber_context_share_fpu(struct fiber_context *context);

/* Save the current execution in *from, which must represent it, and continue *to. Returns when a
 * context switches to *from. Switching to the current context does nothing. */
FIBER_API void fiber_context_switch(struct fiber_context *from, struct fiber_context *to);

/* Switch to *to for the last time: *from is never switched to again. Its stack may be used for
 * something else once *to runs. */
FIBER_API FIBER_NORETURN void fiber_context_end(struct fiber_context *from,
						struct fiber_context *to);

/* Release a context that does not run and never will again, whether it ended or not. The contents
 * of its stack are dropped without unwinding. Only sanitizers hold resources for a context, so a
 * program that never runs under one may omit this call. */
FIBER_API void fiber_context_release(struct fiber_context *context);

/* Where a suspended context continues, as <fiber_layout.h> wants it with FIB_RECIPE_CFI. */
struct fiber_saved_frame {
	uint64_t sp;	    /* the saved stack pointer: nothing below it is needed */
	uint64_t pc;	    /* the CFI at this address gives every other register */
	uint64_t code_low;  /* libfiber's own code is from here ... */
	uint64_t code_high; /* ... up to here; both 0: unknown */
};

/*
 * Get the frame in which a context is suspended, so that the program can publish it to the tools. A
 * context that has not run yet is suspended in its first frame. Returns 0; -ENOTSUP with a port whose
 * stacks cannot be walked (sp and code are valid, pc is 0).
 */
FIBER_API int fiber_context_frame(const struct fiber_context *context,
				  struct fiber_saved_frame *ret);

/*
 * Get a stack of at least size usable bytes, with a guard of 64 KiB below it that faults on
 * overflow. As with fibers, memory is committed when it is touched, and the tops of stacks are
 * spread over the cache. The contents are undefined. Returns 0; -EINVAL for a size of 1 GiB or more
 * or without ret; -ENOMEM, also when no guard can be made.
 */
FIBER_API int fiber_stack_alloc(size_t size, struct fiber_stack *ret);

/* Release a stack on which no context runs any more. The memory is kept for the next allocation. A
 * zeroed *stack is allowed. */
FIBER_API void fiber_stack_free(struct fiber_stack *stack);

FIBER_END_DECLS

#endif
