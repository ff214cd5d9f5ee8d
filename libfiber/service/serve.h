/* SPDX-License-Identifier: MIT */
/* serve.h - one turn of a connection to the control socket. See serve.c. */
#ifndef FIB_SERVICE_SERVE_H
#define FIB_SERVICE_SERVE_H

#include "service/peer.h"

/* Read, or go on with the answer, or write: whatever is possible without waiting. revents as
 * poll() gave them. brief: every microsecond counts, and one of them is enough. Closes the peer when it is
 * finished, gone, or past its deadline. */
void fib_peer_turn(struct fib_peer *peer, short revents, bool brief, int64_t now);

#endif
