/* SPDX-License-Identifier: MIT */
/* handlers.h - know which handlers of signals run on home */
#ifndef FPX_THREADS_HANDLERS_H
#define FPX_THREADS_HANDLERS_H

#include <signal.h>
#include <stdbool.h>

/* What the handler of a signal does to a call that waits. */
enum fpx_effect {
	FPX_NO_HANDLER,
	FPX_RESTARTS, /* SA_RESTART: it ends the call only if signal(7) says that it is never restarted */
	FPX_INTERRUPTS, /* it ends the call */
};

/* By the action that the signal has now. */
enum fpx_effect fpx_handler_effect(int number);

/* sigaction(2). */
int fpx_handler_set(int number, const struct sigaction *action, struct sigaction *before);
/* A call that sets a handler and returns the one before: signal(3) or a relative. */
typedef void fpx_handler(int number);
typedef fpx_handler *fpx_set_call(int number, fpx_handler *handler);
fpx_handler *fpx_handler_set_by(fpx_set_call *set, int number, fpx_handler *handler);

/*
 * The calling thread is home. From now on each handler that begins on it calls begun() first, also
 * those that the program has set before.
 */
void fpx_handlers_watch(void (*begun)(int number, enum fpx_effect effect));

/* Initial-exec: the library is never loaded later than the program. */
extern __thread bool fpx_is_home __attribute__((tls_model("initial-exec")));

/* Whether the calling thread is home. */
static inline bool fpx_at_home(void)
{
	return __builtin_expect(fpx_is_home, 0);
}

/* Block all signals of the calling thread for a moment. */
void fpx_quiet_begin(sigset_t *before);
void fpx_quiet_end(const sigset_t *before);

/* In a forked child: no thread is home. */
void fpx_handlers_forget(void);

#endif
