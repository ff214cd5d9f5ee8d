/* SPDX-License-Identifier: MIT */
/* tls_read.h - read the thread-local by a call: the table of offsets has no register outside C code */
#ifndef FIB_BASE_TLS_READ_H
#define FIB_BASE_TLS_READ_H

static inline void *fib_tls_carrier(void)
{
	return fib_tls_carrier_call();
}

#endif
