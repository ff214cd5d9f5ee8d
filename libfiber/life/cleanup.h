/* SPDX-License-Identifier: MIT */
/* cleanup.h - what a fiber owns and releases when it exits */
#ifndef FIB_LIFE_CLEANUP_H
#define FIB_LIFE_CLEANUP_H

#include <stdbool.h>

#include "core/record.h"

/* An exit handler. F: only its fiber */
struct fib_exit {
	struct fib_exit *before; /* F: added earlier, called later */
	void (*fn)(void *arg);	 /* F */
	void *arg;		 /* F */
};

/* Returns whether fib_cleanup_run() has anything to do. Checked at every exit of a fiber. */
static inline bool fib_cleanup_needed(const struct fiber *fiber)
{
	return fiber->exits || fiber->locals;
}

/*
 * Call the exit handlers of the calling fiber, the last first, then the destructors of its values,
 * and free both. A handler or destructor may wait, may add handlers and values, and may end the
 * fiber itself: then another call of this function continues, and nothing returns to this one.
 */
void fib_cleanup_run(struct fiber *fiber);

/*
 * Before a fiber leaves its stack: ends the process if a group on that stack has live members,
 * which would go on using it.
 */
void fib_cleanup_check_groups(struct fiber *fiber);

#endif
