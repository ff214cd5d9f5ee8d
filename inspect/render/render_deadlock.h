/* SPDX-License-Identifier: MIT */
/* render_deadlock.h - what will never go on, in words and as JSON. */
#ifndef INS_RENDER_DEADLOCK_H
#define INS_RENDER_DEADLOCK_H

#include <stdio.h>

#include "inspect/waits/deadlock.h"
#include "inspect/render/render.h"
#include "inspect/model/thread_stack.h"
#include "inspect/waits/unfollowed.h"

/*
 * One line on what was found; it begins with "deadlock: " when it lasts, else with "timed: ", "suspect: " or
 * "thread: ". Its fibers are for the caller to show.
 */
void ins_text_deadlock(FILE *out, const struct fib_layout *layout,
		       const struct ins_deadlocks *found, const struct ins_deadlock *d, pid_t pid);

/* The last line: how many there are of each. */
void ins_text_deadlocks_end(FILE *out, const struct ins_deadlocks *found, unsigned readings);

/* One line on the waits that are not followed: "not followed: 2 read locks, 1 semaphore"; nothing when there is none. The object
 * has each kind of wait that there is, and NULL without memory. */
void ins_text_unfollowed(FILE *out, const struct fib_layout *layout,
			 const struct ins_unfollowed *unfollowed);
json_t *ins_json_unfollowed(const struct fib_layout *layout,
			    const struct ins_unfollowed *unfollowed);

/* The row of what was found. fibers: those that are shown in full; thread: ins_json_thread() of a plain thread that holds
 * the lock, else null. Both are taken over. NULL without memory. */
json_t *ins_json_deadlock(const struct fib_layout *layout, const struct ins_deadlocks *found,
			  const struct ins_deadlock *d, pid_t pid, json_t *fibers, json_t *thread);

/* The thread that holds a lock, what it does as far as that is known, and its frames: thread 12 "httpd" [in system call
 * pause] and a newline. pid: as of ins_text_deadlock(). */
void ins_text_thread(FILE *out, const struct ins_thread_stack *stack, struct ins_symbols *symbols,
		     const struct ins_walk *walk, pid_t pid);
json_t *ins_json_thread(const struct ins_thread_stack *stack, struct ins_symbols *symbols,
			const struct ins_walk *walk);

#endif
