/* SPDX-License-Identifier: MIT */
/* failure.h - errors of OpenSSL as numbers and text */
#ifndef FIB_TLS_FAILURE_H
#define FIB_TLS_FAILURE_H

#include "connection.h"

/*
 * A call of OpenSSL has failed for good. Take its errors from this thread's queue, end the
 * connection with a number and a text, and return the number. Call it with the lock held, before
 * any wait: the queue is the thread's.
 */
int fib_tls_fail(struct fiber_tls *tls);

/*
 * A flush has returned `error`, not 0. Returns the number for the caller: of the wait; or of
 * sending, which later writes return too while reads go on; or of the whole connection. With the
 * lock held.
 */
int fib_tls_send_failed(struct fiber_tls *tls, int error);

/* As fib_tls_fail(), for a caller's own error. Returns `error`. */
int fib_tls_fail_with(struct fiber_tls *tls, int error, const char *text);

/*
 * The text of the oldest error in this thread's queue, "" if there is none. Empties the queue.
 */
void fib_tls_queue_text(char *text, size_t size);

#endif
