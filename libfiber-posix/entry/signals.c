/* SPDX-License-Identifier: MIT */
/*
 * signals.c - signals of threads that are fibers
 *
 * In the shared library alone, as pthreads.c.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <fiber/posix.h>

#include "call/off_carrier.h"
#include "call/park.h"
#include "call/signal.h"
#include "entry/entry.h"
#include "system/native.h"
#include "threads/handlers.h"
#include "threads/thread.h"

/* -- handlers: libfiber's too -- */

FPX_ENTRY int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
	return fpx_handler_set(number, action, before);
}

FPX_ENTRY fpx_handler *signal(int number, fpx_handler *handler)
{
	return fpx_handler_set_by(fpx_native.signal, number, handler);
}

FPX_ENTRY fpx_handler *__sysv_signal(int number, fpx_handler *handler)
{
	return fpx_handler_set_by(fpx_native.__sysv_signal, number, handler);
}

FPX_ALIAS(sigaction)
int __sigaction(int number, const struct sigaction *action, struct sigaction *before) __THROW;
FPX_ALIAS(signal) fpx_handler *bsd_signal(int number, fpx_handler *handler) __THROW;
FPX_ALIAS(signal) fpx_handler *ssignal(int number, fpx_handler *handler) __THROW;
FPX_ALIAS(__sysv_signal) fpx_handler *sysv_signal(int number, fpx_handler *handler) __THROW;

/* -- masks and signals -- */

FPX_ENTRY int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
	struct fpx_mask *mask = fpx_is_libfiber(FPX_CALLER) ? NULL : fpx_thread_mask();

	return mask ? fpx_mask_change(mask, how, set, before)
		    : fpx_native.pthread_sigmask(how, set, before);
}

FPX_ENTRY int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
	struct fpx_mask *mask = fpx_is_libfiber(FPX_CALLER) ? NULL : fpx_thread_mask();

	return mask ? (int)fpx_result(-fpx_mask_change(mask, how, set, before))
		    : fpx_native.sigprocmask(how, set, before);
}

/* A fiber has no thread that a signal could interrupt: it is the process's. One that is no thread of this
 * library has no mask. */
FPX_ENTRY int pthread_kill(pthread_t thread, int number)
{
	struct fpx_mask *mask;
	struct fiber *fiber;

	if (!fpx_thread_is(thread))
		return fpx_native.pthread_kill(thread, number);
	fiber = fpx_thread_fiber(thread);
	mask = fpx_thread_mask_of(thread);
	if (!fiber || fiber_state(fiber) == FIBER_DEAD)
		return number ? ESRCH : 0;
	return mask ? fpx_signal_fiber(fiber, mask, number) : fpx_signal_caller(number);
}

FPX_ENTRY int pthread_sigqueue(pthread_t thread, int number, const union sigval value)
{
	if (!fpx_thread_is(thread))
		return fpx_native.pthread_sigqueue(thread, number, value);
	return sigqueue(getpid(), number, value) < 0 ? errno : 0;
}

FPX_ENTRY int raise(int number)
{
	struct fpx_mask *mask = fpx_is_libfiber(FPX_CALLER) ? NULL : fpx_thread_mask();

	if (mask)
		return (int)fpx_result(-fpx_signal_fiber(fiber_self(), mask, number));
	return fpx_is_fiber(FPX_CALLER) ? (int)fpx_result(-fpx_signal_caller(number))
					: fpx_native.raise(number);
}

FPX_ENTRY int sigpending(sigset_t *ret)
{
	struct fpx_mask *mask = fpx_thread_mask();
	const int rc = fpx_native.sigpending(ret);

	if (rc == 0 && mask)
		sigorset(ret, ret, &mask->pending);
	return rc;
}

/* Handlers run on home, which interrupts the fiber as in any other call. */
FPX_ENTRY int pause(void)
{
	return fpx_enters(FPX_CALLER) && fpx_parks() && fpx_thread_mask()
		       ? fiber_posix_poll(NULL, 0, -1)
		       : fpx_native.pause();
}

FPX_ENTRY int sigsuspend(const sigset_t *set)
{
	struct fpx_mask *mask = fpx_enters(FPX_CALLER) && fpx_parks() ? fpx_thread_mask() : NULL;

	return mask ? (int)fpx_result(fpx_mask_suspend(mask, set)) : fpx_native.sigsuspend(set);
}

FPX_ALIAS(sigsuspend) int __sigsuspend(const sigset_t *set) __nonnull((1));

/* -- wait for a signal: on a thread, which blocks all -- */

struct waiting {
	const sigset_t *set;
	siginfo_t *info;
	const struct timespec *time;
	int rc;
};

static void *wait_there(void *arg)
{
	struct waiting *w = arg;

	w->rc = fpx_native.sigtimedwait(w->set, w->info, w->time);
	if (w->rc < 0)
		w->rc = -errno;
	return NULL;
}

/* Returns the number of a signal, or a negative errno. */
static int wait_off_carrier(const sigset_t *set, siginfo_t *info, const struct timespec *time)
{
	struct waiting w = {set, info, time, 0};
	struct fpx_mask *mask = fpx_thread_mask();
	int rc = mask ? fpx_mask_take(mask, set) : 0;

	if (rc > 0) {
		if (info)
			*info = (siginfo_t){.si_signo = rc, .si_code = SI_TKILL};
		return rc;
	}
	rc = fpx_off_carrier(wait_there, &w);
	if (mask)
		fpx_mask_forget(mask);

	return rc < 0 ? rc : w.rc;
}

FPX_ENTRY int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *time)
{
	return fpx_enters(FPX_CALLER) && fpx_parks()
		       ? (int)fpx_result(wait_off_carrier(set, info, time))
		       : fpx_native.sigtimedwait(set, info, time);
}

FPX_ENTRY int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	return fpx_enters(FPX_CALLER) && fpx_parks()
		       ? (int)fpx_result(wait_off_carrier(set, info, NULL))
		       : fpx_native.sigwaitinfo(set, info);
}

FPX_ENTRY int sigwait(const sigset_t *set, int *ret)
{
	int rc;

	if (!fpx_enters(FPX_CALLER) || !fpx_parks())
		return fpx_native.sigwait(set, ret);
	do {
		rc = wait_off_carrier(set, NULL, NULL);
	} while (rc == -EINTR);
	if (rc < 0)
		return -rc;
	*ret = rc;
	return 0;
}
