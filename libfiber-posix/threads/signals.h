/* SPDX-License-Identifier: MIT */
/*
 * signals.h - signal masks of threads that are fibers
 *
 * Carriers block all signals, so the system delivers those of the process to its first thread, home.
 */
#ifndef FPX_THREADS_SIGNALS_H
#define FPX_THREADS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

#include <fiber/fiber.h>

/* The mask of a thread that is a fiber. */
struct fpx_mask {
	sigset_t blocked;
	sigset_t pending; /* sent to this thread, which blocks them */
	sigset_t awaited; /* by sigwait(3), off the carrier: one of these is sent to the process */
	const bool *unrestarted; /* A: fpx_unrestarted_flag() of the thread; NULL: not yet */

	/* While the thread is in fpx_mask_suspend(). */
	struct fpx_mask *next;
	struct fiber *suspended; /* its fiber */
	bool handled; /* A: a handler has run for it, or will before the mask has changed */
};

/* A thread begins, with the mask of the one that makes it (NULL: of the calling thread); it ends. */
void fpx_mask_begin(struct fpx_mask *mask, const struct fpx_mask *maker);
void fpx_mask_end(struct fpx_mask *mask);

/* pthread_sigmask(3). Returns 0 or EINVAL. */
int fpx_mask_change(struct fpx_mask *mask, int how, const sigset_t *set, sigset_t *before);

/* sigsuspend(2): change the mask, wait until a handler has run for the thread, and change it back.
 * Returns a negative errno for fpx_result(). By the thread. */
int fpx_mask_suspend(struct fpx_mask *mask, const sigset_t *set);

/* Take a signal of the set that is pending for the thread: its number, or 0. Then the thread awaits one,
 * until fpx_mask_forget(). */
int fpx_mask_take(struct fpx_mask *mask, const sigset_t *set);
void fpx_mask_forget(struct fpx_mask *mask);

/*
 * Send a signal to the thread that the fiber is. When it returns, a handler has run and the fiber's
 * wait was interrupted, or the signal is pending. Returns 0 or a positive error.
 */
int fpx_signal_fiber(struct fiber *fiber, struct fpx_mask *mask, int number);

/* The calling thread is home: before the first fiber begins. Then wait for signals and handle them,
 * until fpx_home_leave(). */
void fpx_home_begin(void);
/* The fiber whose waits a signal interrupts: that of main(). By itself; it ends. */
void fpx_home_serve(struct fiber *fiber);
void fpx_home_lose(struct fiber *fiber);
void fpx_home_stay(void);
void fpx_home_leave(void);
/* In a forked child: there is no home, and the thread has this mask (NULL: its own) from now on. */
void fpx_home_forget(const sigset_t *mask);

#endif
