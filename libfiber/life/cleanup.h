/* SPDX-License-Identifier: MIT */
/* cleanup.h - what belongs to a fiber and has to be let go when it ends. */
#ifndef FIB_LIFE_CLEANUP_H
#define FIB_LIFE_CLEANUP_H

#include <stdbool.h>

#include "core/record.h"

/* Whether fib_cleanup_run() has anything to do: asked at every end of a fiber. */
static inline bool fib_cleanup_needed(const struct fiber *fiber)
{
	return fiber->exits || fiber->locals;
}

/*
 * Call the exit handlers of the calling fiber, the last first, then the destructors of its values, and let go of
 * both. A handler or destructor may wait, may add to what it clears away, and may end the fiber itself:
 * then this begins anew where it was and does not return to it.
 */
void fib_cleanup_run(struct fiber *fiber);

/* Before a fiber leaves its stack: members of a group that lies there would go on using it. Does not return where
 * there are some. */
void fib_cleanup_check_groups(struct fiber *fiber);

#endif
