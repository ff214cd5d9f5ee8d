/* SPDX-License-Identifier: MIT */
/*
 * signal.c - a signal from a fiber that is no thread
 *
 * Carriers block nearly all signals, for ever. The program's other threads do not.
 */
#include "call/signal.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "system/native.h"

int fpx_signal_caller(int number)
{
	sigset_t blocked;

	fpx_native.pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	if (sigismember(&blocked, number) == 1)
		return kill(getpid(), number) < 0 ? errno : 0;
	return fpx_native.pthread_kill(fpx_native.pthread_self(), number);
}
