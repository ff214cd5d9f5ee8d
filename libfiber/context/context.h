/* SPDX-License-Identifier: MIT */
/* context.h - a switchable execution: saved registers, and what sanitizers need to know of it */
#ifndef FIB_CONTEXT_CONTEXT_H
#define FIB_CONTEXT_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "announce.h" /* of the sanitizer the Makefile chose */
#include "arch/arch.h"
#include "base/compiler.h"

/* Give the context the caller's FPU control words. */
static inline void fib_context_inherit(struct fib_context *context)
{
	fib_arch_inherit(context);
}

/* The context shares the control words of its thread, if the port can do that. */
static inline void fib_context_share(struct fib_context *context)
{
	fib_arch_share(context);
}

/* Make the context call fn(arg), which must not return, on [low, low + size) when it is first
 * switched to. Call fib_context_inherit() before. Returns 0 or a negative errno. */
int fib_context_begin(struct fib_context *context, struct fib_announce *announce, void *low,
		      size_t size, void (*fn)(void *), void *arg);

/* Start fn(arg) at once on the stack that the caller is on and leaves for good. Only where
 * fib_announce_restarts(). */
static inline _Noreturn void fib_context_restart(struct fib_context *context, void *top,
						 void (*fn)(void *), void *arg)
{
	context->sp = (uint64_t)(uintptr_t)top;
	fib_arch_start(context, top, fn, arg);
}

/* fib_context_inherit() and fib_context_begin(). */
int fib_context_init(struct fib_context *context, struct fib_announce *announce, void *low,
		     size_t size, void (*fn)(void *), void *arg);

/* Make a context of the calling thread itself; its registers are saved when it first switches
 * away. */
void fib_context_adopt(struct fib_context *context, struct fib_announce *announce);

/* The context will never run again; its stack may be reused after this. Called on another stack. */
void fib_context_done(struct fib_announce *announce);

/*
 * Leave from and continue to. Returns when from is switched to again, perhaps on another thread:
 * keep nothing thread-local across the call. *left is incremented when from may be switched to
 * (arch.h).
 *
 * Inlined, so that for a caller that only switches the last call is a jump into the port's routine,
 * not a jump to a jump. For fibers of different code, whose returns are mispredicted anyway, a
 * second jump costs 3 ns.
 */
static fib_always_inline void fib_context_switch(struct fib_context *from,
						 struct fib_announce *from_announce,
						 struct fib_context *to,
						 struct fib_announce *to_announce,
						 _Atomic uint64_t *left)
{
	fib_announce_leave(from_announce, to_announce, false);
	fib_arch_switch(from, to, left);
	fib_announce_enter(from_announce);
}

/* Continue to and never return. The context announced as from has ended, and needs no
 * fib_context_done(). */
_Noreturn void fib_context_leave(struct fib_announce *from, struct fib_context *to,
				 struct fib_announce *to_announce);

/* The thread has left the stack of from for good and is back on that of to, by a jump that was not
 * a switch. */
void fib_context_escaped(struct fib_announce *from, struct fib_announce *to);

/* Called first in a new context. */
void fib_context_begun(struct fib_announce *announce);

/* The name of the sanitizer that is notified of switches; NULL: none. */
const char *fib_context_announced(void);

/* Call add for each block in which a sanitizer keeps variables of the frames on [sp, top) apart
 * from the stack. The context is suspended. Returns the number of calls. */
unsigned fib_context_asides(const struct fib_announce *announce, uint64_t sp, uint64_t top,
			    void (*add)(const void *low, size_t size));

/*
 * Call fn(arg) with the registers that the caller's callers keep on the stack: above fn's frame, so that a
 * conservative collector that reads the stack from there finds them. Async-signal-safe.
 */
void fib_context_spill(void (*fn)(void *arg), void *arg);

/* Copy size bytes of frames from sp upwards, which must be mapped, including gaps. The frames may
 * be the caller's own, or those that a signal has interrupted. Async-signal-safe. */
void fib_context_copy_frames(unsigned char *to, uint64_t sp, size_t size);

#endif
