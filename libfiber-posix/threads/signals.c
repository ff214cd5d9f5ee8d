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
 *
 * To wake a fiber takes locks. Handlers may do that, by sem_post(3) and pthread_kill(3). So home wakes
 * fibers with all signals blocked. A handler that sends a signal to a fiber cannot wait for home, nor
 * for the lock of a caller that does. So it leaves the fiber to home.
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

/* The fiber of main(), until it ends, and fibers that handlers have sent a signal to. By home with all
 * signals blocked. */
static pthread_mutex_t targets_lock = PTHREAD_MUTEX_INITIALIZER;
static struct target {
	struct fiber *fiber;
	const bool *only_if; /* as in fiber_own_tls_interrupt() */
} first, targets[8];	     /* L targets_lock. first.only_if: as in its mask */
static unsigned targets_n;   /* L targets_lock */

static struct fpx_mask *suspended; /* L targets_lock: threads in sigsuspend(2), and their fields */

static uint64_t for_fiber; /* A: signals sent to home for a fiber, whose handler has not begun */
static unsigned effects;   /* A home and its handlers: 1 << effect of each handler that has begun */

/* -- home -- */

void fpx_home_serve(struct fiber *fiber)
{
	fpx_native.pthread_mutex_lock(&targets_lock);
	first = (struct target){fiber, fpx_unrestarted_flag()};
	fpx_native.pthread_mutex_unlock(&targets_lock);
}

void fpx_home_lose(struct fiber *fiber)
{
	fpx_native.pthread_mutex_lock(&targets_lock);
	if (first.fiber == fiber)
		first.fiber = NULL;
	for (unsigned i = 0; i < targets_n; i++)
		if (targets[i].fiber == fiber)
			targets[i].fiber = NULL;
	fpx_native.pthread_mutex_unlock(&targets_lock);
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

static void resume(struct fpx_mask *mask)
{
	__atomic_store_n(&mask->handled, true, __ATOMIC_RELEASE);
	fiber_unpark(mask->suspended);
}

static void interrupt(const struct target *target)
{
	if (!target->fiber)
		return;
	for (struct fpx_mask *m = suspended; m; m = m->next)
		if (m->suspended == target->fiber)
			resume(m);
	fiber_own_tls_interrupt(target->fiber, target->only_if);
}

/* Handlers have run: the system would choose the first thread for the signals of the process. */
static void interrupt_all(unsigned ran)
{
	sigset_t before;

	if (!ran)
		return;
	fpx_quiet_begin(&before);
	fpx_native.pthread_mutex_lock(&targets_lock);
	if (ran & 1U << FPX_INTERRUPTS)
		interrupt(&(struct target){first.fiber, NULL});
	else if (ran & 1U << FPX_RESTARTS)
		interrupt(&first);
	/* Those that block the signal return too early. */
	for (struct fpx_mask *m = suspended; m && ran & ~(1U << FPX_NO_HANDLER); m = m->next)
		resume(m);
	while (targets_n)
		interrupt(&targets[--targets_n]);
	fpx_native.pthread_mutex_unlock(&targets_lock);
	fpx_quiet_end(&before);
}

static void answer_caller(void)
{
	sigset_t before;

	fpx_quiet_begin(&before);
	fiber_sem_post(&answer);
	fpx_quiet_end(&before);
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
		interrupt_all(rc < 0 && !ran ? 1U << FPX_INTERRUPTS : ran);
		if (__atomic_load_n(&leaves, __ATOMIC_ACQUIRE))
			return;
		if (!__atomic_exchange_n(&called, false, __ATOMIC_ACQUIRE))
			continue;
		fpx_native.pthread_sigmask(SIG_SETMASK, &wanted, NULL);
		interrupt_all(take_effects());
		answer_caller();
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

/* In a forked child there is no home, and the lock may be a thread's that is not there. */
void fpx_home_leave(void)
{
	if (!stays)
		return;
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

/* Make home take `wanted`, and handle what has arrived. sent: by send(), as bits. With the lock. */
static void call_home(uint64_t sent)
{
	if (!stays || leaves)
		return;
	__atomic_store_n(&called, true, __ATOMIC_RELEASE);
	fpx_native.sem_post(&call);
	fiber_sem_wait(&answer, FIBER_FOREVER);
	/* Those that are left have no handler. */
	__atomic_fetch_and(&for_fiber, ~sent, __ATOMIC_RELAXED);
}

/* Send a signal for a fiber that does not block it. Returns 0 or a positive error. */
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

/* A handler has run for the fiber alone. */
static void interrupt_one(struct fiber *fiber, const bool *only_if)
{
	fpx_native.pthread_mutex_lock(&targets_lock);
	interrupt(&(struct target){fiber, only_if});
	fpx_native.pthread_mutex_unlock(&targets_lock);
}

/* The fiber does not block the signal. With the lock, so the fiber does not end. */
static int handle(struct fiber *fiber, const struct fpx_mask *mask, int number)
{
	const bool *const unrestarted = __atomic_load_n(&mask->unrestarted, __ATOMIC_ACQUIRE);
	const enum fpx_effect effect = fpx_handler_effect(number);
	const int rc = send(number);

	if (rc || !number)
		return rc;
	call_home(signal_bit(number));
	if (fiber == fiber_self() || effect == FPX_NO_HANDLER)
		return 0;
	if (effect == FPX_INTERRUPTS)
		interrupt_one(fiber, NULL);
	else if (unrestarted)
		interrupt_one(fiber, unrestarted);
	return 0;
}

/* Home is to interrupt the fiber, once all handlers have returned; now, if it will not or has no room. */
static void leave_to_home(struct fiber *fiber, const bool *only_if)
{
	const struct target target = {fiber, only_if};
	sigset_t before;

	fpx_quiet_begin(&before);
	fpx_native.pthread_mutex_lock(&targets_lock);
	if (!leaves && targets_n < sizeof targets / sizeof *targets)
		targets[targets_n++] = target;
	else
		interrupt(&target);
	fpx_native.pthread_mutex_unlock(&targets_lock);
	__atomic_fetch_or(&effects, 1U << FPX_NO_HANDLER, __ATOMIC_RELAXED);
	fpx_native.sem_post(&call);
	fpx_quiet_end(&before);
}

/* In a handler on home, without the lock. A signal that the fiber blocks goes to the process. */
static int signal_from_home(struct fiber *fiber, const struct fpx_mask *mask, int number)
{
	const bool *const unrestarted = __atomic_load_n(&mask->unrestarted, __ATOMIC_ACQUIRE);
	const enum fpx_effect effect = fpx_handler_effect(number);

	if (!number || sigismember(&mask->blocked, number) == 1)
		return kill(getpid(), number) < 0 ? errno : 0;
	if (effect == FPX_INTERRUPTS)
		leave_to_home(fiber, NULL);
	else if (effect == FPX_RESTARTS && unrestarted)
		leave_to_home(fiber, unrestarted);
	return send(number);
}

int fpx_signal_fiber(struct fiber *fiber, struct fpx_mask *mask, int number)
{
	int rc;

	if (fpx_at_home())
		return signal_from_home(fiber, mask, number);
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
		call_home(0);
}

/* Send what was pending and is not blocked any more. Returns it as bits. With the lock. */
static uint64_t release(struct fpx_mask *mask)
{
	uint64_t sent = 0;

	for (int n = 1; n < NUMBERS; n++) {
		if (sigismember(&mask->pending, n) != 1 || sigismember(&mask->blocked, n) == 1)
			continue;
		sigdelset(&mask->pending, n);
		if (fpx_handler_effect(n) != FPX_NO_HANDLER)
			__atomic_store_n(&mask->handled, true, __ATOMIC_RELAXED);
		if (send(n) == 0)
			sent |= signal_bit(n);
	}
	return sent;
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
	uint64_t sent;

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
	sent = release(mask);
	if (recount() || sent)
		call_home(sent);
	leave();
	return 0;
}

/* -- sigsuspend -- */

static void suspend_begin(struct fpx_mask *mask)
{
	fpx_native.pthread_mutex_lock(&targets_lock);
	mask->handled = false;
	mask->suspended = fiber_self();
	mask->next = suspended;
	suspended = mask;
	fpx_native.pthread_mutex_unlock(&targets_lock);
}

static void suspend_end(const struct fpx_mask *mask)
{
	struct fpx_mask **m = &suspended;

	fpx_native.pthread_mutex_lock(&targets_lock);
	while (*m != mask)
		m = &(*m)->next;
	*m = mask->next;
	fpx_native.pthread_mutex_unlock(&targets_lock);
}

int fpx_mask_suspend(struct fpx_mask *mask, const sigset_t *set)
{
	sigset_t before;
	int rc = 0;

	suspend_begin(mask);
	fpx_mask_change(mask, SIG_SETMASK, set, &before);
	/* A signal that comes before the fiber parks leaves a token. */
	while (!__atomic_load_n(&mask->handled, __ATOMIC_ACQUIRE) &&
	       !(rc == -ECANCELED && fiber_cancelled()))
		rc = fiber_park(FIBER_FOREVER);
	suspend_end(mask);
	fpx_mask_change(mask, SIG_SETMASK, &before, NULL);
	return rc == -ECANCELED ? rc : -EINTR;
}
