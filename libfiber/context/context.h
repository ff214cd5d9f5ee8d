/* SPDX-License-Identifier: MIT */
/*
 * context.h - a switchable execution: saved registers and what sanitizers want to know of it
 */
#ifndef FIB_CONTEXT_CONTEXT_H
#define FIB_CONTEXT_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "announce.h" /* of the sanitizer the Makefile chose */
#include "arch/arch.h"

/* Make a context that will call fn(arg), which must not return, on [low, low + size). */
int fib_context_init(struct fib_context *context, struct fib_announce *announce, void *low,
		     size_t size, void (*fn)(void *), void *arg);

/* Make a context of the calling thread itself; it is saved when it first switches away. */
void fib_context_adopt(struct fib_announce *announce);

/* The context will never run again; its stack may be reused after this. From another stack. */
void fib_context_done(struct fib_announce *announce);

/* Leave from, go on in to. dying: from will never be switched to again. Returns when somebody switches back,
 * perhaps on another thread: nothing thread-local may be kept across. */
void fib_context_switch(struct fib_context *from, struct fib_announce *from_announce,
			struct fib_context *to, struct fib_announce *to_announce, bool dying);

/* The first thing that runs in a new context calls this. */
void fib_context_begun(struct fib_announce *announce);

#endif
