/* SPDX-License-Identifier: MIT */
/*
 * audit.h - who changed what over the control socket
 *
 * The last FIB_AUDIT_KEPT changes, also those that were refused, whoever asked. Written and read by the service thread
 * only; nothing is printed.
 *
 * A program records three things, each in a ring of its own: pinned waits (wait/pinned.h), which carriers write without a
 * lock; long runs (watch/longrun_ring.h); and these. One ring for all would be shorter to describe, but in it a storm of pinned
 * waits pushes out who changed the policy a second before, and an entry of 64 bytes would take the room of a stack.
 */
#ifndef FIB_SERVICE_AUDIT_H
#define FIB_SERVICE_AUDIT_H

#include "service/peer.h"

#define FIB_AUDIT_KEPT 128u

/* The peer has changed a setting from before to after, or was refused: result is a negative errno then. */
void fib_audit(const struct fib_peer *peer, enum fib_wire_audit_what what, uint64_t before,
	       uint64_t after, int result);

/* The peer has acted on a fiber, or was refused. */
void fib_audit_fiber(const struct fib_peer *peer, enum fib_wire_audit_what what, uint64_t fiber,
		     int result);

/* How many there were; entry serial, counted from 1, NULL when it is not there any more. */
uint64_t fib_audit_total(void);
const struct fib_wire_audit_entry *fib_audit_entry(uint64_t serial);

/* In a forked child: it was its parent that was changed. */
void fib_audit_forget(void);

#endif
