/* SPDX-License-Identifier: MIT */
/*
 * context.h - a switchable execution: saved registers and what sanitizers want to know of it
 */
#ifndef FIB_CONTEXT_CONTEXT_H
#define FIB_CONTEXT_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "announce.h" /* of the sanitizer the Makefile chose */
#include "arch/arch.h"
#include "base/compiler.h"

/* Give it the caller's FPU control words. */
static inline void fib_context_inherit(struct fib_context *context)
{
	fib_arch_inherit(context);
}

/* Let it call fn(arg), which must not return, on [low, low + size), when it is first switched to. It has
 * inherited. 0, or a negative errno. */
int fib_context_begin(struct fib_context *context, struct fib_announce *announce, void *low,
		      size_t size, void (*fn)(void *), void *arg);

/* The same on the stack that the caller stands on and leaves for good, at once: where fib_announce_restarts(). */
static inline _Noreturn void fib_context_restart(struct fib_context *context, void *top,
						 void (*fn)(void *), void *arg)
{
	context->sp = (uint64_t)(uintptr_t)top;
	fib_arch_start(context, top, fn, arg);
}

/* Both. */
int fib_context_init(struct fib_context *context, struct fib_announce *announce, void *low,
		     size_t size, void (*fn)(void *), void *arg);

/* Make a context of the calling thread itself; it is saved when it first switches away. */
void fib_context_adopt(struct fib_announce *announce);

/* The context will never run again; its stack may be reused after this. From another stack. */
void fib_context_done(struct fib_announce *announce);

/* Leave from, go on in to. Returns when somebody switches back, perhaps on another thread: nothing
 * thread-local may be kept across. *left is raised when from may be switched to (arch.h). Inlined, so that the last call of
 * whoever only switches is a jump into the port's routine, and no jump to a jump: for fibers of different code, whose
 * returns are mispredicted anyway, a second one costs 3 ns. */
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

/* Go on in to, and never come back: whoever was announced as from has ended, and needs no
 * fib_context_done(). */
_Noreturn void fib_context_leave(struct fib_announce *from, struct fib_context *to,
				 struct fib_announce *to_announce);

/* The thread has left the stack of from for good and is back on that of to, by a jump that was no switch. */
void fib_context_escaped(struct fib_announce *from, struct fib_announce *to);

/* The first thing that runs in a new context calls this. */
void fib_context_begun(struct fib_announce *announce);

/* The sanitizer that switches are announced to; NULL: none. */
const char *fib_context_announced(void);

/* Call add for all memory in which a sanitizer keeps variables of the frames on [sp, top) apart from the stack. The context is
 * suspended. Returns how often. */
unsigned fib_context_asides(const struct fib_announce *announce, uint64_t sp, uint64_t top,
			    void (*add)(const void *low, size_t size));

/* Copy size bytes of frames from sp upwards, which are there, as they are, gaps and all. The frames may be the caller's own,
 * or those that a signal has interrupted. Async-signal-safe. */
void fib_context_copy_frames(unsigned char *to, uint64_t sp, size_t size);

#endif
