/* SPDX-License-Identifier: MIT */
/* op.h - operations of the program's own, as the runtime sees them. */
#ifndef FIB_IO_OP_H
#define FIB_IO_OP_H

#include <stdint.h>

#include "sched/sched.h"

/* The token of a ring that is not the poller's: no descriptor has this number. */
#define FIB_OP_RING UINT64_C(0xffffffff)

/* What a poller gave out with no events. On a carrier. */
void fib_op_ended(uint64_t token);

/* The calling carrier's scheduler has a ring of its own, and something is in there. */
void fib_op_reap(void);

/* No fiber of s is left: cancel what is under way and wait for its end. From a fiber of another runtime, or a thread.
 * 0, -ETIMEDOUT, -ECANCELED; may be called again. */
int fib_op_finish(struct fib_sched *s, int64_t deadline);

/* After the carriers of s have ended, and fib_op_finish() gave 0: release what finish left. */
void fib_op_release(struct fib_sched *s);

#endif
