/* SPDX-License-Identifier: MIT */
/* sample.h - looking at another thread of this process, from the thread that watches it. */
#ifndef FIB_OS_SAMPLE_H
#define FIB_OS_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "layout/sleeper.h"
#include "os/kept.h"

/* What thread tid does: 1: it sleeps there, *ret; 0: it runs, or waits for a CPU. Or a negative errno: it has ended, or
 * nobody may know. */
int fib_os_thread_place(uint32_t tid, struct fib_sleeper_place *ret);

/* The same of a thread that has kept its file open for that, which takes one call more to be sure of it, and none that opens. */
void fib_os_thread_place_keep(
	struct fib_os_kept *ret); /* of the calling thread; not open where there is no such file */
int fib_os_thread_place_of(struct fib_os_kept *kept, uint32_t tid, struct fib_sleeper_place *ret);

/*
 * Have fn called on thread tid, in between two of its instructions, with its registers as the ucontext_t of a signal
 * handler. 0: it will be, if the thread takes interrupts; -EBUSY: the program uses the signal for itself. fn is
 * async-signal-safe and the same with every call. errno is kept.
 */
typedef void fib_os_interrupt_fn(void *ucontext);
int fib_os_interrupt(uint32_t tid, fib_os_interrupt_fn *fn);

/* Whether threads that the caller makes may take interrupts: neither does the program handle the signal nor does the
 * caller block it, as it would for sigwait(3). */
bool fib_os_may_interrupt(void);

/* The calling thread, which has an alternate signal stack, takes interrupts from now on. */
void fib_os_take_interrupts(void);

#endif
