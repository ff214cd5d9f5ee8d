/* SPDX-License-Identifier: MIT */
/* kernel.h - records that the kernel encrypts (kTLS) */
#ifndef FIB_TLS_KERNEL_H
#define FIB_TLS_KERNEL_H

#include <sys/types.h>

#include "connection.h"

/* Commands of OpenSSL to a BIO, which its headers name in a comment. */
enum { FIB_TLS_KERNEL_START = 72, FIB_TLS_KERNEL_TYPE = 74, FIB_TLS_KERNEL_NO_TYPE = 75 };

/* Whether this kernel encrypts records. Asks it once. Any thread. */
bool fib_tls_kernel_available(void);

/* Let the kernel encrypt what is sent from now on. keys: OpenSSL's argument. Returns whether it
 * does. Called with the lock held and nothing kept. */
bool fib_tls_kernel_start(struct fiber_tls *tls, void *keys);

/* Send a record of another type than data. Returns size, -EAGAIN, -EIO: only a part
 * was sent; or the socket's error. Never waits. */
ssize_t fib_tls_kernel_send(struct fiber_tls *tls, int type, const char *bytes, size_t size);

#endif
