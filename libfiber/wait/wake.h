/* SPDX-License-Identifier: MIT */
/* wake.h - wake a waiter whose wait has been claimed */
#ifndef FIB_WAIT_WAKE_H
#define FIB_WAIT_WAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record.h"
#include "core/registry.h"
#include "sched/sched.h"

/* A claimed waiter to wake; a copy, since the waiter may be gone already. */
struct fib_wake {
	struct fiber *fiber; /* NULL: a thread or a pinned fiber, which sleeps on word */
	_Atomic uint32_t *word;
};

/*
 * Record that the wait is over. By the waker of a lock, before it writes the waiter as the owner: a
 * reader must not find a fiber that waits for itself, however long the waker is preempted before
 * fib_wake(). A pinned fiber records it itself.
 */
static inline void fib_wake_show(const struct fib_wake *wake)
{
	if (wake->fiber)
		fib_show_runnable(wake->fiber, fib_coarse_now());
	/* A reader outside the process that sees the new owner sees that it no longer waits. */
	fib_fence_release();
}

/* Wake it. front: run it before the other fibers of the calling carrier. */
static inline void fib_wake(const struct fib_wake *wake, bool front);

/* Wake the thread that sleeps on word, which has changed. */
void fib_wake_thread(_Atomic uint32_t *word);

static inline void fib_wake(const struct fib_wake *wake, bool front)
{
	if (wake->fiber)
		fib_ready(wake->fiber, front);
	else
		fib_wake_thread(wake->word);
}

#endif
