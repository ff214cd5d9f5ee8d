/* SPDX-License-Identifier: MIT */
/* signals.c - who has raised a signal, and how large its frame is */
#include "os/signals.h"

#include <unistd.h>

bool fib_os_signal_sent(const siginfo_t *info)
{
	return info->si_code <= 0;
}

size_t fib_os_altstack_size(void)
{
	const long least = sysconf(_SC_SIGSTKSZ);

	return least > 65536 ? ((size_t)least + 4095) & ~(size_t)4095 : 65536;
}
