/* SPDX-License-Identifier: MIT */
/* render_deadlock.h - print deadlocks in words and as JSON */
#ifndef INS_RENDER_DEADLOCK_H
#define INS_RENDER_DEADLOCK_H

#include <stdio.h>

#include "inspect/waits/confirm.h"
#include "inspect/render/render.h"
#include "inspect/model/thread_stack.h"
#include "inspect/waits/unfollowed.h"

/*
 * One line for a finding. It starts with "deadlock: " if it lasts, else with "timed: ", "suspect: "
 * or "thread: ". The caller prints its fibers.
 */
void ins_text_deadlock(FILE *out, const struct fib_layout *layout,
		       const struct ins_deadlocks *found, const struct ins_deadlock *d, pid_t pid);

/* The last line: how many findings of each kind. */
void ins_text_deadlocks_end(FILE *out, const struct ins_deadlocks *found, unsigned readings);

/*
 * One line if all fibers wait and only threads that are no fibers could wake one: it may be a
 * deadlock. Nothing if each wait is explained by a finding.
 */
void ins_text_stillness(FILE *out, const struct ins_confirmed *confirmed);

/*
 * One line for the waits that are not followed: "not followed: 2 read locks, 1 semaphore"; nothing
 * if there are none. The object has a key for each kind of wait that occurs; NULL: no memory.
 */
void ins_text_unfollowed(FILE *out, const struct fib_layout *layout,
			 const struct ins_unfollowed *unfollowed);
json_t *ins_json_unfollowed(const struct fib_layout *layout,
			    const struct ins_unfollowed *unfollowed);

/*
 * The row of a finding. fibers: those that are shown in full. thread: ins_json_thread() of a plain
 * thread that holds the lock, else null. Both are taken over. NULL: no memory.
 */
json_t *ins_json_deadlock(const struct fib_layout *layout, const struct ins_deadlocks *found,
			  const struct ins_deadlock *d, pid_t pid, json_t *fibers, json_t *thread);

/*
 * Print the thread that holds a lock, what it does if known, and its frames: thread 12 "httpd" [in
 * system call pause] and a newline. pid: as for ins_text_deadlock().
 */
void ins_text_thread(FILE *out, const struct ins_thread_stack *stack, struct ins_symbols *symbols,
		     const struct ins_walk *walk, pid_t pid);
json_t *ins_json_thread(const struct ins_thread_stack *stack, struct ins_symbols *symbols,
			const struct ins_walk *walk);

#endif
