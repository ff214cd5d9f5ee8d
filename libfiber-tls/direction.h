/* SPDX-License-Identifier: MIT */
/* direction.h - one caller for each direction of a connection, and what it waits for */
#ifndef FIB_TLS_DIRECTION_H
#define FIB_TLS_DIRECTION_H

#include "connection.h"

/* All functions are called and return with the lock held; those with a deadline release it while
 * they wait. */

enum fib_tls_direction { FIB_TLS_READS, FIB_TLS_WRITES, FIB_TLS_BOTH };

/* Returns 0, or -EBUSY when another caller is in a call of this direction. */
int fib_tls_enter(struct fiber_tls *tls, enum fib_tls_direction direction);
void fib_tls_leave(struct fiber_tls *tls, enum fib_tls_direction direction);

/* Shake hands unless it is done. Returns 0 or an error. */
int fib_tls_make_ready(struct fiber_tls *tls, int64_t deadline);

/*
 * A call of OpenSSL has returned `result`, which is no success: wait for what it needs. Returns 0:
 * call it again; an error of the wait; or the error that ends the connection.
 */
int fib_tls_await(struct fiber_tls *tls, int result, int64_t deadline);

#endif
