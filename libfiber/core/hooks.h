/* SPDX-License-Identifier: MIT */
/*
 * hooks.h - functions of a garbage collector that fibers and threads call when they begin and end
 *
 * Nothing is checked at a spawn or an exit while there are none: the carriers of a runtime that was
 * started with hooks for fibers have FIB_SLOW_HOOKS.
 */
#ifndef FIB_CORE_HOOKS_H
#define FIB_CORE_HOOKS_H

#include <fiber/gc.h>

#include "base/atomic.h"

extern const struct fiber_gc_hooks *_Atomic fib_hooks; /* A: hooks.set; NULL: none */

static inline const struct fiber_gc_hooks *fib_hooks_now(void)
{
	/* pairs: hooks.set -- what the program wrote into them. */
	return fib_load_acquire(&fib_hooks);
}

/* Call the hook for a fiber that is complete but not yet runnable, or that is about to leave its
 * stack. Do nothing without a hook. */
void fib_hooks_created(struct fiber *fiber);
void fib_hooks_ended(struct fiber *fiber);

/* What a thread began with. */
struct fib_hooked {
	const struct fiber_gc_hooks *hooks; /* NULL: none */
	void *thread;			    /* what its hook returned */
};

/* Called by a thread of libfiber around all code of the program that it runs. */
void fib_hooks_thread_began(struct fib_hooked *ret);
void fib_hooks_thread_ended(const struct fib_hooked *hooked);

#endif
