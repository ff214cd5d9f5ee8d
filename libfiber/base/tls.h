/* SPDX-License-Identifier: MIT */
/*
 * tls.h - the library's single thread-local
 *
 * A compiler may assume that the address of a thread-local does not change within a function, and
 * keep it across a switch after which the fiber runs on another thread. Therefore no C code outside
 * tls.c has the address. The value is read anew at each call of fib_tls_carrier(), which is called
 * again after every switch.
 */
#ifndef FIB_BASE_TLS_H
#define FIB_BASE_TLS_H

/* The carrier of this thread, NULL on a plain thread. Also from a signal handler. */
void *fib_tls_carrier_call(void);

/* Of the port: fib_tls_carrier(), the same without a call where possible. */
#include "tls_read.h"

void fib_tls_set_carrier(void *carrier);

#endif
