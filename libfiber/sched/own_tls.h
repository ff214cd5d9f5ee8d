/* SPDX-License-Identifier: MIT */
/*
 * own_tls.h - fibers with thread-locals of their own
 *
 * A carrier moves its thread pointer to the fiber's block when it switches to the fiber, and back to
 * its own when it switches to its idle context or to a fiber without a block. Only one carrier uses a
 * block at a time: it moves to the block of a fiber whose seq was even, and away before the switch
 * makes it even again (record.seq). Nothing in this library keeps the address of a thread-local, and
 * the one that it reads, the carrier, is written into a block before the thread pointer moves there.
 * A signal handler in between finds the carrier in either block.
 *
 * Carriers look at blocks once FIB_SLOW_OWN_TLS is set in all of them. That happens before the first
 * fiber with a block is put into a queue, and a carrier reads the flag after it has taken a fiber.
 */
#ifndef FIB_SCHED_OWN_TLS_H
#define FIB_SCHED_OWN_TLS_H

#include "arch/arch.h"
#include "sched/sched.h"

/* Use the block of a fiber that another one, or the idle context, switches to; NULL: it has none, and
 * uses the thread's. Carrier c only. */
static inline void fib_use_tls(struct fib_carrier *c, void *own)
{
	if (own) {
		*(void **)((char *)own + c->tls_offset) = c;
		fib_arch_tp_move(own);
	} else if (fib_arch_tp() != c->tp) {
		fib_arch_tp_move(c->tp);
	}
}

/* Whether fibers can have blocks: 0, or -ENOTSUP and *ret_why. */
int fib_own_tls_check(const char **ret_why);

/* Before a fiber with a block is submitted. */
void fib_own_tls_enable(struct fib_sched *s);

/* The calling fiber leaves its block for good. */
void fib_own_tls_leave(struct fib_carrier *c, struct fiber *fiber);

#endif
