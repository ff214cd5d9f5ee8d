/* SPDX-License-Identifier: MIT */
/* wake.h - wake a waiter whose wait has been claimed */
#ifndef FIB_WAIT_WAKE_H
#define FIB_WAIT_WAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record.h"
#include "sched/sched.h"

/* A claimed waiter to wake; a copy, since the waiter may be gone already. */
struct fib_wake {
	struct fiber *fiber; /* NULL: a thread or a pinned fiber, which sleeps on word */
	_Atomic uint32_t *word;
};

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
