/* SPDX-License-Identifier: MIT */
/*
 * interrupt.c - interrupt another thread, to read its registers or to halt it
 *
 * Only a signal handler can read the registers of a thread that computes. The signal is SIGURG: its
 * default action is to be ignored, debuggers pass it on, and few programs use it. A program that
 * uses it keeps it: if its disposition is not the default, none is sent.
 */
#include "os/sample.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/threads.h"

#define INTERRUPT SIGURG

/* A: what the handler calls: first to halt, then to sample. */
static fib_os_interrupt_fn *_Atomic halt;
static fib_os_interrupt_fn *_Atomic interrupt;

static void on_interrupt(int number, siginfo_t *info, void *context)
{
	/* pairs: sample.interrupt -- one of them was set before the first signal was sent. */
	fib_os_interrupt_fn *const to_halt = fib_load_acquire(&halt);
	fib_os_interrupt_fn *const to_sample = fib_load_acquire(&interrupt);
	int saved = errno;

	(void)number;
	(void)info;
	if (to_halt)
		to_halt(context);
	if (to_sample)
		to_sample(context);
	errno = saved;
}

static bool is_default(const struct sigaction *action)
{
	return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL;
}

static bool is_ours(const struct sigaction *action)
{
	return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == on_interrupt;
}

/* Install the handler when it is first needed, if there is none. */
static int claim_signal(void)
{
	struct sigaction ours = {.sa_sigaction = on_interrupt,
				 .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
	struct sigaction before;

	if (sigaction(INTERRUPT, NULL, &before) < 0)
		return -errno;
	if (is_ours(&before))
		return 0;
	if (!is_default(&before))
		return -EBUSY;
	sigemptyset(&ours.sa_mask);
	if (sigaction(INTERRUPT, &ours, &before) < 0)
		return -errno;
	if (is_default(&before) || is_ours(&before))
		return 0;
	/* The program has installed its own handler in between. */
	sigaction(INTERRUPT, &before, NULL);
	return -EBUSY;
}

static int send_interrupt(uint32_t tid)
{
	const int saved = errno;
	int rc = claim_signal();

	if (rc == 0)
		rc = fib_os_thread_signal(tid, INTERRUPT);
	errno = saved;
	return rc;
}

fib_noinline int fib_os_interrupt(uint32_t tid, fib_os_interrupt_fn *fn)
{
	/* label: sample.interrupt */
	fib_store_release(&interrupt, fn);
	return send_interrupt(tid);
}

fib_noinline int fib_os_halt(uint32_t tid, fib_os_interrupt_fn *fn)
{
	/* label: sample.interrupt */
	fib_store_release(&halt, fn);
	return send_interrupt(tid);
}

fib_noinline bool fib_os_may_interrupt(void)
{
	struct sigaction action;
	sigset_t blocked;

	return sigaction(INTERRUPT, NULL, &action) == 0 &&
	       (is_default(&action) || is_ours(&action)) &&
	       pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 && !sigismember(&blocked, INTERRUPT);
}

fib_noinline void fib_os_take_interrupts(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, INTERRUPT);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}
