/* SPDX-License-Identifier: MIT */
/* longrun_sample.h - the stack of a fiber that computes: asked for by the service thread, copied by its carrier. */
#ifndef FIB_WATCH_LONGRUN_SAMPLE_H
#define FIB_WATCH_LONGRUN_SAMPLE_H

#include "os/os.h"
#include "watch/longrun.h"

/* Interrupt carrier c, should it still run that fiber at that seq. 0; -EAGAIN: not now; -EBUSY, -ESRCH, ...:
 * not at all. */
int fib_longrun_sample_ask(struct fib_carrier *c, uint64_t fiber, uint64_t seq);

/* What it has handed over, until _done; NULL: not yet. */
const struct fib_longrun_sample *fib_longrun_sample_get(struct fib_carrier *c);
void fib_longrun_sample_done(struct fib_carrier *c);

/* Take the question back. False when the carrier is about to answer it. */
bool fib_longrun_sample_cancel(struct fib_carrier *c);

/* Copy the stack from sp upwards: size bytes, or, where that is 0, whatever there is; never more than FIB_LONGRUN_STACK. Through
 * the caller's pipe, which may be closed, or by fib_os_peek(). How many. Async-signal-safe; errno does not survive it. */
uint32_t fib_longrun_copy(struct fib_os_pipe *pipe, uint64_t sp, uint64_t size, unsigned char *to);

#endif
