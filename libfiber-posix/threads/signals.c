/* SPDX-License-Identifier: MIT */
/*
 * signals.c - signal masks of threads that are fibers
 *
 * A signal of the process goes to any thread that does not block it. Here home stands for all of them:
 * it blocks what all block. The masks are counted by signal, so that a change costs a step for each
 * signal in it. Home changes its mask itself. A caller that has made it change waits until home has
 * done so: after pthread_sigmask(3) a handler that is blocked must not run any more.
 *
 * Handlers run on home. On threads the signal would interrupt the call of main(). So a handler that
 * begins on home posts the semaphore that home waits for. Once it has returned, home interrupts the
 * wait of main(): for a handler with SA_RESTART only a wait that is never restarted. A signal for one
 * fiber is sent to home, and the sender interrupts the wait of that fiber.
 */
#include "threads/signals.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fiber/fiber.h>
#include <fiber/sync.h>
#include <fiber/time.h>

#include "call/park.h"
#include "layout/own_tls.h"
#include "system/native.h"
#include "threads/handlers.h"

#define NUMBERS 65

static struct fiber_mutex lock;	   /* also: one caller at a time waits for home */
static unsigned threads;	   /* L lock */
static unsigned blockers[NUMBERS]; /* L lock: threads that block a signal, and ... */
static unsigned blocks;		   /* L lock: ... their sum */
static sigset_t wanted;		   /* L lock, then home's until it answers */

static sem_t call;		/* home waits for it: it is called, or a handler has begun */
static bool called;		/* A: a caller waits for the answer */
static struct fiber_sem answer; /* the caller waits for it */
static bool leaves;		/* A */
static bool stays;		/* I: there is a home */
static pid_t home;		/* I: its number for the system */

/* L first_lock: the fiber of main(), until it ends. */
static struct fiber *first;
static const bool *first_unrestarted; /* L first_lock: as in its mask */
static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t for_fiber; /* A: signals sent to home for a fiber, whose handler has not begun */
static unsigned effects;   /* A home and its handlers: 1 << effect of each handler that has begun */

/* -- home -- */

void fpx_home_serve(struct fiber *fiber)
{
	fpx_native.pthread_mutex_lock(&first_lock);
	first = fiber;
	first_unrestarted = fpx_unrestarted_flag();
	fpx_native.pthread_mutex_unlock(&first_lock);
}

void fpx_home_lose(struct fiber *fiber)
{
	fpx_native.pthread_mutex_lock(&first_lock);
	if (first == fiber)
		first = NULL;
	fpx_native.pthread_mutex_unlock(&first_lock);
}

static uint64_t signal_bit(int number)
{
	return UINT64_C(1) << (number - 1);
}

/*
 * A handler begins on home. If its signal was sent to the process and to a fiber at the same time, one
 * may be taken for the other. The handler runs twice then, and main() is interrupted once in any case.
 */
static void note(int number, enum fpx_effect effect)
{
	const uint64_t bit = signal_bit(number);

	if (__atomic_fetch_and(&for_fiber, ~bit, __ATOMIC_ACQ_REL) & bit)
		effect = FPX_NO_HANDLER;
	else
		fpx_native.sem_post(&call);
	__atomic_fetch_or(&effects, 1U << effect, __ATOMIC_RELAXED);
}

/* Handlers have run: the system would choose the first thread for their signals. */
static void interrupt(unsigned ran)
{
	const bool any = ran & 1U << FPX_INTERRUPTS;

	if (!any && !(ran & 1U << FPX_RESTARTS))
		return;
	fpx_native.pthread_mutex_lock(&first_lock);
	if (first)
		fiber_own_tls_interrupt(first, any ? NULL : first_unrestarted);
	fpx_native.pthread_mutex_unlock(&first_lock);
}

static unsigned take_effects(void)
{
	return __atomic_exchange_n(&effects, 0, __ATOMIC_RELAXED);
}

void fpx_home_begin(void)
{
	fpx_native.pthread_sigmask(SIG_SETMASK, NULL, &wanted);
	home = (pid_t)syscall(SYS_gettid);
	stays = true;
	fpx_handlers_watch(note);
}

void fpx_home_stay(void)
{
	for (;;) {
		const int rc = fpx_native.sem_wait(&call);
		const unsigned ran = take_effects();

		/* EINTR, and no handler has begun: it was set by a system call. */
		interrupt(rc < 0 && !ran ? 1U << FPX_INTERRUPTS : ran);
		if (__atomic_load_n(&leaves, __ATOMIC_ACQUIRE))
			return;
		if (!__atomic_exchange_n(&called, false, __ATOMIC_ACQUIRE))
			continue;
		fpx_native.pthread_sigmask(SIG_SETMASK, &wanted, NULL);
		interrupt(take_effects());
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
	__atomic_store_n(&leaves, true, __ATOMIC_RELEASE);
	fpx_native.sem_post(&call);
	leave();
}

void fpx_home_forget(const sigset_t *mask)
{
	stays = false;
	fpx_handlers_forget();
	if (mask)
		fpx_native.pthread_sigmask(SIG_SETMASK, mask, NULL);
}

/* Make home take `wanted`, and handle what has arrived. With the lock. */
static void call_home(void)
{
	if (!stays || leaves)
		return;
	__atomic_store_n(&called, true, __ATOMIC_RELEASE);
	fpx_native.sem_post(&call);
	fiber_sem_wait(&answer, FIBER_FOREVER);
	/* Those that are left have no handler. */
	__atomic_store_n(&for_fiber, 0, __ATOMIC_RELAXED);
}

/* Send a signal for a fiber that does not block it. Returns 0 or a positive error. With the lock. */
static int send(int number)
{
	if (!stays || number < 1 || number >= NUMBERS)
		return kill(getpid(), number) < 0 ? errno : 0;
	__atomic_fetch_or(&for_fiber, signal_bit(number), __ATOMIC_RELEASE);
	if (syscall(SYS_tgkill, getpid(), home, number) == 0)
		return 0;
	__atomic_fetch_and(&for_fiber, ~signal_bit(number), __ATOMIC_RELAXED);
	return errno;
}

/* The fiber does not block the signal. With the lock, so the fiber does not end. */
static int handle(struct fiber *fiber, const struct fpx_mask *mask, int number)
{
	const bool *const unrestarted = __atomic_load_n(&mask->unrestarted, __ATOMIC_ACQUIRE);
	const enum fpx_effect effect = fpx_handler_effect(number);
	const int rc = send(number);

	if (rc || !number)
		return rc;
	call_home();
	if (fiber == fiber_self())
		return 0;
	if (effect == FPX_INTERRUPTS)
		fiber_own_tls_interrupt(fiber, NULL);
	else if (effect == FPX_RESTARTS && unrestarted)
		fiber_own_tls_interrupt(fiber, unrestarted);
	return 0;
}

int fpx_signal_fiber(struct fiber *fiber, struct fpx_mask *mask, int number)
{
	int rc;

	enter();
	if (!number || sigismember(&mask->blocked, number) != 1)
		rc = handle(fiber, mask, number);
	else if (sigismember(&mask->awaited, number) == 1)
		rc = kill(getpid(), number) < 0 ? errno : 0;
	else
		rc = sigaddset(&mask->pending, number);
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
		send(n);
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
