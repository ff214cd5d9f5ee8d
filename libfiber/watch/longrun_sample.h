/* SPDX-License-Identifier: MIT */
/* longrun_sample.h - have a carrier copy the stack of a fiber that computes */
#ifndef FIB_WATCH_LONGRUN_SAMPLE_H
#define FIB_WATCH_LONGRUN_SAMPLE_H

#include "os/os.h"
#include "watch/longrun.h"

/*
 * Interrupt carrier c and sample its stack, if it still runs that fiber at that seq. Returns 0;
 * -EAGAIN: not now; -EBUSY, -ESRCH, ...: not possible.
 */
int fib_longrun_sample_ask(struct fib_carrier *c, uint64_t fiber, uint64_t seq);

/* The sample, valid until _done; NULL: not there yet. */
const struct fib_longrun_sample *fib_longrun_sample_get(struct fib_carrier *c);
void fib_longrun_sample_done(struct fib_carrier *c);

/* Withdraw the request. False: the handler is filling the sample in, or has done so. */
bool fib_longrun_sample_cancel(struct fib_carrier *c);

/*
 * Copy the stack from sp upwards: size bytes, or, if size is 0, as much as is mapped; at most
 * FIB_LONGRUN_STACK. Through the caller's pipe, which may be closed, or by fib_os_peek(). Returns
 * how many bytes. Async-signal-safe; changes errno.
 */
uint32_t fib_longrun_copy(struct fib_os_pipe *pipe, uint64_t sp, uint64_t size, unsigned char *to);

#endif
