/* SPDX-License-Identifier: MIT */
/*
 * crash.c - run a function before the process dies
 *
 * A stack that overflowed is no place for it, and alternate signal stacks are small, so the function
 * has a stack of its own. If the fault was inside malloc(3), the function may wait for ever, or
 * fault again; an alarm and the default action end that.
 */
#include "explore/crash.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/compiler.h"

#define SECONDS 5u

static struct {
	void (*fn)(void);
	pid_t owner;
	int signal;
	ucontext_t from, to;
	char stack[1u << 20];
} crash;

static void run_once(void)
{
	void (*const fn)(void) = crash.fn;

	crash.fn = NULL;
	if (!fn || getpid() != crash.owner)
		return;
	alarm(SECONDS);
	getcontext(&crash.to);
	crash.to.uc_stack.ss_sp = crash.stack;
	crash.to.uc_stack.ss_size = sizeof crash.stack;
	crash.to.uc_link = &crash.from;
	makecontext(&crash.to, fn, 0);
	swapcontext(&crash.from, &crash.to);
	alarm(0);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	crash.signal = number;
	run_once();
	signal(number, SIG_DFL);
	/* A fault repeats when the handler returns, and the core shows the place. */
	if (info->si_code <= 0)
		raise(number);
}

int fib_crash_signal(void)
{
	return crash.signal;
}

void fib_crash_catch(void (*fn)(void))
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
	const struct sigaction action = {.sa_sigaction = on_signal,
					 .sa_flags = (int)(SA_SIGINFO | SA_ONSTACK | SA_NODEFER)};
	const bool first = !crash.owner;
	unsigned i;

	crash.fn = fn;
	crash.owner = getpid();
	if (!fn)
		return;
	for (i = 0; i < fib_countof(signals); i++)
		sigaction(signals[i], &action, NULL);
	if (first)
		atexit(run_once);
}
