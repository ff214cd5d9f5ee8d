/* SPDX-License-Identifier: MIT */
/* longrun_sample.h - have a carrier copy the stack of the fiber that it runs */
#ifndef FIB_WATCH_LONGRUN_SAMPLE_H
#define FIB_WATCH_LONGRUN_SAMPLE_H

#include "os/os.h"
#include "watch/longrun.h"

/*
 * Interrupt carrier c and have it fill in `sample`, which is one of its own: c->sample or
 * c->profile.sample. fiber, seq: copy the stack only if c still runs that fiber at that seq; fiber
 * 0: of the fiber that c runs then. Returns 0; -EAGAIN: not now; -EBUSY, -ESRCH, ...: not possible.
 */
int fib_longrun_sample_ask(struct fib_carrier *c, struct fib_longrun_sample *sample, uint64_t fiber,
			   uint64_t seq);

/* Whether the sample is there; it stays until _done. */
bool fib_longrun_sample_taken(struct fib_longrun_sample *sample);
void fib_longrun_sample_done(struct fib_longrun_sample *sample);

/* The sample of the fiber that c's hold is of; NULL: not there yet. */
const struct fib_longrun_sample *fib_longrun_sample_get(struct fib_carrier *c);

/* Withdraw the request. False: the handler is filling the sample in, or has done so. */
bool fib_longrun_sample_cancel(struct fib_longrun_sample *sample);

/* Whether there is neither a request nor an answer. */
bool fib_longrun_sample_idle(struct fib_longrun_sample *sample);

/*
 * Copy the stack from sp upwards: size bytes, or, if size is 0, as much as is mapped; at most
 * FIB_LONGRUN_STACK. Through the caller's pipe, which may be closed, or by fib_os_peek(). Returns
 * how many bytes. Async-signal-safe; changes errno.
 */
uint32_t fib_longrun_copy(struct fib_os_pipe *pipe, uint64_t sp, uint64_t size, unsigned char *to);

#endif
