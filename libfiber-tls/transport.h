/* SPDX-License-Identifier: MIT */
/* transport.h - the bytes between OpenSSL and the socket */
#ifndef FIB_TLS_TRANSPORT_H
#define FIB_TLS_TRANSPORT_H

#include "connection.h"

/* Connect OpenSSL's side of a new connection with this file's. Returns 0 or -ENOMEM. */
int fib_tls_transport_open(struct fiber_tls *tls);

/*
 * Wait, without the lock, until there are bytes for OpenSSL or the stream has ended or failed, or
 * until pending bytes could be sent. The caller reads or shakes hands. Called and returns with the
 * lock held; it is released meanwhile. Returns 0: go on with OpenSSL; or an error of the wait,
 * after which the connection goes on.
 */
int fib_tls_transport_await(struct fiber_tls *tls, int64_t deadline);

/*
 * Send the pending bytes. Called and returns with the lock held; it is released during a wait.
 * Returns 0 when none are left; an error of the wait; or the socket's, which the connection keeps:
 * see fib_tls_send_failed().
 */
int fib_tls_transport_flush(struct fiber_tls *tls, int64_t deadline);

/* Send of the pending bytes what the socket takes. Called with the lock held. Never waits. */
void fib_tls_transport_push(struct fiber_tls *tls);

/*
 * fib_tls_transport_flush() before a record is written, except that a few bytes which the socket has not refused stay:
 * they are sent together with the record.
 */
int fib_tls_transport_make_room(struct fiber_tls *tls, int64_t deadline);

/*
 * Count bytes of content that were encrypted or decrypted, and yield after many. Called and returns
 * with the lock held; it is released for the yield.
 */
void fib_tls_transport_moved(struct fiber_tls *tls, size_t bytes);

#endif
