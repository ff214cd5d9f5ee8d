/* SPDX-License-Identifier: MIT */
/* signals.c - who has raised a signal, and how large its frame is */
#include "os/signals.h"

/* Other than on Linux, the codes of signals that were sent are positive. */
bool fib_os_signal_sent(const siginfo_t *info)
{
	return info->si_code <= 0 || info->si_code >= SI_USER;
}

size_t fib_os_altstack_size(void)
{
	return SIGSTKSZ > 65536 ? SIGSTKSZ : 65536;
}
