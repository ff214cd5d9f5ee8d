/* SPDX-License-Identifier: MIT */
/* sample.h - look at another thread of this process */
#ifndef FIB_OS_SAMPLE_H
#define FIB_OS_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "layout/sleeper.h"
#include "os/kept.h"

/*
 * Look at thread tid. 1: it sleeps, *ret says where; 0: it runs, or waits for a CPU. Or a negative
 * errno: it has exited, or the system does not tell.
 */
int fib_os_thread_place(uint32_t tid, struct fib_sleeper_place *ret);

/*
 * The same for a thread that keeps its file open: one more call to check the file, and none to open
 * it.
 */
void fib_os_thread_place_keep(
	struct fib_os_kept *ret); /* of the calling thread; not open where there is no such file */
int fib_os_thread_place_of(struct fib_os_kept *kept, uint32_t tid, struct fib_sleeper_place *ret);

/*
 * Interrupt thread tid and call fn on it, with its registers as the ucontext_t of a signal handler.
 * 0: fn will be called, if the thread takes interrupts; -EBUSY: the program uses the signal itself.
 * fn must be async-signal-safe and the same in every call. errno is kept.
 */
typedef void fib_os_interrupt_fn(void *ucontext);
int fib_os_interrupt(uint32_t tid, fib_os_interrupt_fn *fn);

/*
 * The same by the same signal, with a function of its own, which may wait. A handler calls both
 * functions, whichever the signal was sent for; one that has nothing to do returns.
 */
int fib_os_halt(uint32_t tid, fib_os_interrupt_fn *fn);

/*
 * Whether threads made by the caller may take interrupts: the program does not handle the signal,
 * and the caller does not block it, as for sigwait(3).
 */
bool fib_os_may_interrupt(void);

/* Let the calling thread, which has an alternate signal stack, take interrupts from now on. */
void fib_os_take_interrupts(void);

#endif
