/* SPDX-License-Identifier: MIT */
/*
 * tls.h - the library's thread-locals
 *
 * A compiler may assume that the address of a thread-local does not change within a function, and
 * keep it across a switch after which the fiber runs on another thread. Therefore no C code outside
 * tls.c has the address. The value is read anew at each call of fib_tls_carrier(), which is called
 * again after every switch.
 */
#ifndef FIB_BASE_TLS_H
#define FIB_BASE_TLS_H

#include <stdbool.h>
#include <stddef.h>

/* The carrier of this thread, NULL on a plain thread. Also from a signal handler. */
void *fib_tls_carrier_call(void);

/* Of the port: fib_tls_carrier(), the same without a call where possible. */
#include "tls_read.h"

void fib_tls_set_carrier(void *carrier);

/* Where fib_tls_carrier() reads, relative to the calling thread's thread pointer. The same in all
 * threads. */
ptrdiff_t fib_tls_carrier_offset(const void *thread_pointer);

/*
 * A plain thread takes a lock that its signal handler needs to wake a fiber: sem_post(3) may be
 * called there, and libfiber-posix wakes. fib_tls_defer(), by the handler, returns false if the thread
 * has none. Else fib_tls_leave() calls the function when the last one is given up. Sections may be
 * nested. In a carrier, which blocks all signals, the three do nothing.
 */
void fib_tls_enter_thread(void);
void fib_tls_leave_thread(void);
bool fib_tls_defer(void (*later)(void));

static inline void fib_tls_enter(void)
{
	if (!fib_tls_carrier())
		fib_tls_enter_thread();
}

static inline void fib_tls_leave(void)
{
	if (!fib_tls_carrier())
		fib_tls_leave_thread();
}

#endif
