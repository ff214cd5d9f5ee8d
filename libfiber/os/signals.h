/* SPDX-License-Identifier: MIT */
/* signals.h - what posix/signal.c needs that each system does in its own way; async-signal-safe */
#ifndef FIB_OS_SIGNALS_H
#define FIB_OS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* Whether a process or thread has sent this signal, and no fault has raised it. */
bool fib_os_signal_sent(const siginfo_t *info);
/* The size of an alternate stack in bytes, whole pages. */
size_t fib_os_altstack_size(void);

#endif
