/* SPDX-License-Identifier: MIT */
/*
 * signals.c - signal masks of threads that are fibers
 *
 * A signal of the process goes to any thread that does not block it. Here home stands for all of them:
 * it blocks what all block. The masks are counted by signal, so that a change costs a step for each
 * signal in it. Home changes its mask itself. A caller that has made it change waits until home has
 * done so: after pthread_sigmask(3) a handler that is blocked must not run any more.
 */
#include "threads/signals.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <fiber/fiber.h>
#include <fiber/sync.h>
#include <fiber/time.h>

#include "layout/own_tls.h"
#include "system/native.h"

#define NUMBERS 65

static struct fiber_mutex lock;	   /* also: one caller at a time waits for home */
static unsigned threads;	   /* L lock */
static unsigned blockers[NUMBERS]; /* L lock: threads that block a signal, and ... */
static unsigned blocks;		   /* L lock: ... their sum */
static sigset_t wanted;		   /* L lock, then home's until it answers */

static sem_t call;		/* home waits for it */
static struct fiber_sem answer; /* the caller waits for it */
static bool leaves;		/* L lock, and home */
static bool stays;		/* I: there is a home */

/* L first_lock: the fiber of main(), until it ends. */
static struct fiber *first;
static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;

/* -- home -- */

void fpx_home_serve(struct fiber *fiber)
{
	fpx_native.pthread_mutex_lock(&first_lock);
	first = fiber;
	fpx_native.pthread_mutex_unlock(&first_lock);
}

void fpx_home_lose(struct fiber *fiber)
{
	fpx_native.pthread_mutex_lock(&first_lock);
	if (first == fiber)
		first = NULL;
	fpx_native.pthread_mutex_unlock(&first_lock);
}

/* A handler that does not let calls go on has run: the system would choose the first thread for it. */
static void interrupt(void)
{
	fpx_native.pthread_mutex_lock(&first_lock);
	if (first)
		fiber_own_tls_interrupt(first, NULL);
	fpx_native.pthread_mutex_unlock(&first_lock);
}

void fpx_home_begin(void)
{
	fpx_native.pthread_sigmask(SIG_SETMASK, NULL, &wanted);
	stays = true;
}

void fpx_home_stay(void)
{
	for (;;) {
		/* EINTR: a handler has run. */
		if (fpx_native.sem_wait(&call) < 0) {
			interrupt();
			continue;
		}
		if (leaves)
			return;
		fpx_native.pthread_sigmask(SIG_SETMASK, &wanted, NULL);
		fiber_sem_post(&answer);
	}
}

static void enter(void)
{
	fiber_cancel_mask();
	fiber_mutex_lock(&lock, FIBER_FOREVER);
}

static void leave(void)
{
	fiber_mutex_unlock(&lock);
	fiber_cancel_unmask();
}

void fpx_home_leave(void)
{
	enter();
	leaves = true;
	fpx_native.sem_post(&call);
	leave();
}

void fpx_home_forget(const sigset_t *mask)
{
	stays = false;
	if (mask)
		fpx_native.pthread_sigmask(SIG_SETMASK, mask, NULL);
}

/* Make home take `wanted`, and handle what has arrived. With the lock. */
static void call_home(void)
{
	if (!stays || leaves)
		return;
	fpx_native.sem_post(&call);
	fiber_sem_wait(&answer, FIBER_FOREVER);
}

int fpx_signal_fiber(struct fiber *fiber, struct fpx_mask *mask, int number)
{
	int rc = 0;
	bool later;

	enter();
	later = number && sigismember(&mask->blocked, number) == 1 &&
		sigismember(&mask->awaited, number) != 1;
	if (later)
		sigaddset(&mask->pending, number);
	else
		rc = kill(getpid(), number) < 0 ? errno : 0;
	if (rc == 0 && number && !later) {
		call_home();
		if (fiber != fiber_self())
			fiber_own_tls_interrupt(fiber, NULL);
	}
	leave();
	return rc;
}

/* -- masks -- */

/* Returns whether what all block has changed. With the lock. */
static bool recount(void)
{
	sigset_t before = wanted;

	for (int n = 1; n < NUMBERS; n++) {
		if (threads && blockers[n] == threads)
			sigaddset(&wanted, n);
		else
			sigdelset(&wanted, n);
	}
	return memcmp(&before, &wanted, sizeof before) != 0;
}

static void count(const sigset_t *set, int by)
{
	for (int n = 1; n < NUMBERS && !sigisemptyset(set); n++)
		if (sigismember(set, n) == 1) {
			blockers[n] += (unsigned)by;
			blocks += (unsigned)by;
		}
}

/* Usually no thread blocks anything. */
static void settle(void)
{
	if ((blocks || !sigisemptyset(&wanted)) && recount())
		call_home();
}

/* Send what was pending and is not blocked any more. With the lock. */
static bool release(struct fpx_mask *mask)
{
	bool any = false;

	for (int n = 1; n < NUMBERS; n++) {
		if (sigismember(&mask->pending, n) != 1 || sigismember(&mask->blocked, n) == 1)
			continue;
		sigdelset(&mask->pending, n);
		kill(getpid(), n);
		any = true;
	}
	return any;
}

int fpx_mask_take(struct fpx_mask *mask, const sigset_t *set)
{
	int taken = 0;

	enter();
	for (int n = 1; n < NUMBERS && !taken; n++)
		if (sigismember(set, n) == 1 && sigismember(&mask->pending, n) == 1)
			taken = n;
	if (taken)
		sigdelset(&mask->pending, taken);
	else
		mask->awaited = *set;
	leave();
	return taken;
}

void fpx_mask_forget(struct fpx_mask *mask)
{
	enter();
	sigemptyset(&mask->awaited);
	leave();
}

void fpx_mask_begin(struct fpx_mask *mask, const struct fpx_mask *maker)
{
	sigemptyset(&mask->pending);
	sigemptyset(&mask->awaited);
	if (maker)
		mask->blocked = maker->blocked;
	else
		fpx_native.pthread_sigmask(SIG_SETMASK, NULL, &mask->blocked);
	enter();
	threads++;
	count(&mask->blocked, 1);
	settle();
	leave();
}

void fpx_mask_end(struct fpx_mask *mask)
{
	enter();
	threads--;
	count(&mask->blocked, -1);
	settle();
	leave();
}

int fpx_mask_change(struct fpx_mask *mask, int how, const sigset_t *set, sigset_t *before)
{
	const sigset_t old = mask->blocked;
	sigset_t next = old;

	if (before)
		*before = old;
	if (!set)
		return 0;
	if (how == SIG_BLOCK)
		sigorset(&next, &old, set);
	else if (how == SIG_SETMASK)
		next = *set;
	else if (how != SIG_UNBLOCK)
		return EINVAL;
	for (int n = 1; how == SIG_UNBLOCK && n < NUMBERS; n++)
		if (sigismember(set, n) == 1)
			sigdelset(&next, n);
	/* As in the system. */
	sigdelset(&next, SIGKILL);
	sigdelset(&next, SIGSTOP);
	enter();
	count(&old, -1);
	count(&next, 1);
	mask->blocked = next;
	if (release(mask) | recount())
		call_home();
	leave();
	return 0;
}
