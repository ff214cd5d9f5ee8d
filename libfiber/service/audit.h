/* SPDX-License-Identifier: MIT */
/*
 * audit.h - the log of changes made over the control socket
 *
 * It keeps the last FIB_AUDIT_KEPT changes, including those that were refused. Only the service
 * thread reads and writes it; nothing is printed.
 *
 * A program records three things, each in a ring of its own: pinned waits (wait/pinned.h), written
 * by carriers without a lock; long runs (watch/longrun_ring.h); and these changes. They do not
 * share a ring: a storm of pinned waits would overwrite the entry of a policy change made a second
 * before, and an entry of 112 bytes would use the room of a stack.
 */
#ifndef FIB_SERVICE_AUDIT_H
#define FIB_SERVICE_AUDIT_H

#include "service/peer.h"

#define FIB_AUDIT_KEPT 128u

/*
 * The peer has changed a setting from before to after, or was refused: result is then a negative
 * errno.
 */
void fib_audit(const struct fib_peer *peer, enum fib_wire_audit_what what, uint64_t before,
	       uint64_t after, int result);

/* The peer has acted on a fiber, or was refused. row: the fiber, NULL if it was not found. */
void fib_audit_fiber(const struct fib_peer *peer, enum fib_wire_audit_what what, uint64_t fiber,
		     const struct fib_row *row, int result);

/*
 * The number of changes so far. The entry with that serial, counted from 1; NULL: it was
 * overwritten.
 */
uint64_t fib_audit_total(void);
const struct fib_wire_audit_entry *fib_audit_entry(uint64_t serial);

/* In a forked child: clear the log, which is the parent's. */
void fib_audit_forget(void);

#endif
