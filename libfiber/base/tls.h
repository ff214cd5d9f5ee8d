/* SPDX-License-Identifier: MIT */
/*
 * tls.h - the library's single thread-local
 *
 * A compiler may assume that the address of a thread-local does not change within a function, and
 * keeps it across a switch after which the fiber runs on another thread. So nobody outside tls.c
 * ever has the address: these return and take the value, out of line, and are called again after
 * every switch.
 */
#ifndef FIB_BASE_TLS_H
#define FIB_BASE_TLS_H

/* The carrier this thread is, NULL on a plain thread. Also from a signal handler. */
void *fib_tls_carrier(void);
void fib_tls_set_carrier(void *carrier);

#endif
