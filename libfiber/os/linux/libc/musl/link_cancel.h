/* SPDX-License-Identifier: MIT */
/*
 * link_cancel.h - musl: have the kind of system calls that can be repeated
 *
 * A static program that does not use pthread_cancel() has a shorter routine for calls that are
 * cancellation points. It keeps the number of the call nowhere, so an interrupted one cannot be
 * repeated (arch/x86_64/repeat.c). This reference adds pthread_cancel(), 2 KiB, to the program.
 */
#ifndef FIB_OS_LINUX_LIBC_LINK_CANCEL_H
#define FIB_OS_LINUX_LIBC_LINK_CANCEL_H

#include <pthread.h>

static inline void fib_os_link_cancel(void)
{
	int (*volatile keep)(pthread_t) = pthread_cancel;

	(void)keep;
}

#endif
