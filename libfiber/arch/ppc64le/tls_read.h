/* SPDX-License-Identifier: MIT */
/* tls_read.h - read the thread-local by a call: inline assembly cannot ask for r2 */
#ifndef FIB_BASE_TLS_READ_H
#define FIB_BASE_TLS_READ_H

static inline void *fib_tls_carrier(void)
{
	return fib_tls_carrier_call();
}

#endif
