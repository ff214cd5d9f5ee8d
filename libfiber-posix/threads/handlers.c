/* SPDX-License-Identifier: MIT */
/*
 * handlers.c - know which handlers of signals run on home
 *
 * The system says that a handler has run only if the handler has no SA_RESTART, and it never says
 * which. So it gets a handler of this file in place of the program's, with the flags and the mask that
 * the program has asked for. That one calls the program's with the same three arguments. The program
 * sees its own handler. Nothing else changes: the system delivers, blocks, nests and stops.
 *
 * The system fills in what a handler with SA_SIGINFO gets, and only for such a handler. A signal may
 * arrive while a handler of one kind takes the place of one of the other kind. So there are two
 * handlers here, and each looks in a table of its own.
 *
 * A handler that is set by a system call, not by the C library, is not known here.
 */
#include "threads/handlers.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "system/native.h"

#define NUMBERS 65

typedef void info_handler(int number, siginfo_t *info, void *context);

/* L lock, and read by handlers at any time. */
static fpx_handler *plain[NUMBERS];
static info_handler *with_info[NUMBERS];

/* With all signals blocked: a handler may take it too. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* I: NULL until there is a home, and in a forked child. */
static void (*begun_at_home)(int number, enum fpx_effect effect);

__thread bool fpx_is_home;

static enum fpx_effect effect_of(const struct sigaction *action)
{
	return action->sa_flags & SA_RESTART ? FPX_RESTARTS : FPX_INTERRUPTS;
}

enum fpx_effect fpx_handler_effect(int number)
{
	struct sigaction action;

	if (fpx_native.sigaction(number, NULL, &action) < 0 || action.sa_handler == SIG_DFL ||
	    action.sa_handler == SIG_IGN)
		return FPX_NO_HANDLER;
	return effect_of(&action);
}

/* -- in the place of the program's handlers -- */

/* With SA_RESETHAND the system has the handler no longer, but still the flags. */
static void note(int number)
{
	const int before = errno;
	struct sigaction action;

	if (fpx_is_home && fpx_native.sigaction(number, NULL, &action) == 0)
		begun_at_home(number, effect_of(&action));
	errno = before;
}

static void run_plain(int number)
{
	note(number);
	__atomic_load_n(&plain[number], __ATOMIC_ACQUIRE)(number);
}

static void run_with_info(int number, siginfo_t *info, void *context)
{
	note(number);
	__atomic_load_n(&with_info[number], __ATOMIC_ACQUIRE)(number, info, context);
}

/* -- put them there -- */

static bool is_number(int number)
{
	return number > 0 && number < NUMBERS;
}

static bool is_handler(fpx_handler *handler)
{
	return handler != SIG_DFL && handler != SIG_IGN && handler != SIG_ERR &&
	       handler != run_plain;
}

/* Change the action so that this file's handler runs the program's. With the lock. The system refuses
 * an action only of a signal that has no handlers. */
static void hide(int number, struct sigaction *action)
{
	if (!is_handler(action->sa_handler) || action->sa_sigaction == run_with_info)
		return;
	if (action->sa_flags & SA_SIGINFO) {
		__atomic_store_n(&with_info[number], action->sa_sigaction, __ATOMIC_RELEASE);
		action->sa_sigaction = run_with_info;
	} else {
		__atomic_store_n(&plain[number], action->sa_handler, __ATOMIC_RELEASE);
		action->sa_handler = run_plain;
	}
}

/* Undo that in an action that the system has returned. */
static void show(struct sigaction *action, fpx_handler *was_plain, info_handler *was_with_info)
{
	if (action->sa_sigaction == run_with_info)
		action->sa_sigaction = was_with_info;
	else if (action->sa_handler == run_plain)
		action->sa_handler = was_plain;
}

void fpx_quiet_begin(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	fpx_native.pthread_sigmask(SIG_SETMASK, &all, before);
}

void fpx_quiet_end(const sigset_t *before)
{
	fpx_native.pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* Without home nothing is put there: then it costs nothing. */
static void enter(sigset_t *before)
{
	if (!begun_at_home)
		return;
	fpx_quiet_begin(before);
	fpx_native.pthread_mutex_lock(&lock);
}

static void leave(const sigset_t *before)
{
	if (!begun_at_home)
		return;
	fpx_native.pthread_mutex_unlock(&lock);
	fpx_quiet_end(before);
}

int fpx_handler_set(int number, const struct sigaction *action, struct sigaction *before)
{
	struct sigaction hidden, old;
	fpx_handler *was_plain;
	info_handler *was_with_info;
	sigset_t mask;
	int rc;

	if (!is_number(number))
		return fpx_native.sigaction(number, action, before);
	enter(&mask);
	was_plain = plain[number];
	was_with_info = with_info[number];
	if (action && begun_at_home) {
		hidden = *action;
		hide(number, &hidden);
		action = &hidden;
	}
	rc = fpx_native.sigaction(number, action, before ? &old : NULL);
	leave(&mask);
	if (rc == 0 && before) {
		show(&old, was_plain, was_with_info);
		*before = old;
	}
	return rc;
}

fpx_handler *fpx_handler_set_by(fpx_set_call *set, int number, fpx_handler *handler)
{
	struct sigaction action = {.sa_handler = handler};
	fpx_handler *was_plain;
	info_handler *was_with_info;
	sigset_t mask;

	if (!is_number(number)) {
		action.sa_handler = set(number, handler);
		return action.sa_handler;
	}
	enter(&mask);
	was_plain = plain[number];
	was_with_info = with_info[number];
	if (begun_at_home)
		hide(number, &action);
	action.sa_handler = set(number, action.sa_handler);
	leave(&mask);
	show(&action, was_plain, was_with_info);
	return action.sa_handler;
}

void fpx_handlers_watch(void (*begun)(int number, enum fpx_effect effect))
{
	struct sigaction action;

	begun_at_home = begun;
	fpx_is_home = true;
	for (int n = 1; n < NUMBERS; n++)
		if (fpx_handler_set(n, NULL, &action) == 0 && is_handler(action.sa_handler))
			fpx_handler_set(n, &action, NULL);
}

void fpx_handlers_forget(void)
{
	static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;

	fpx_is_home = false;
	begun_at_home = NULL;
	lock = unlocked;
}
