/* SPDX-License-Identifier: MIT */
/*
 * recording.h - the recording of this process: at most one at a time; for the service thread only
 */
#ifndef FIB_SERVICE_RECORDING_H
#define FIB_SERVICE_RECORDING_H

#include <stdint.h>

#include "wire/record.h"

/*
 * Start a recording with rings of about `events` events, in all runtimes. 0 and *ret; -EBUSY: one
 * is in progress; -ESRCH: no runtime; -ENOMEM.
 */
int fib_recording_start(unsigned events, int64_t now, struct fib_wire_record_is *ret);

/*
 * A client reads recording id; runtimes started since then join it. 0 and *ret; -ESRCH: this
 * recording is not in progress.
 */
int fib_recording_read(uint64_t id, int64_t now, struct fib_wire_record_is *ret);
int fib_recording_stop(uint64_t id, int64_t now, struct fib_wire_record_is *ret);

/* The number of events of a ring; 0: there is no recording. */
unsigned fib_recording_events(void);

/* Called once a tick: end a recording without a reader, and return memory. */
void fib_recording_look(int64_t now);

/* In a forked child: drop the recording, which is the parent's. */
void fib_recording_forget(void);

/* A reading has found that so many more events were lost: publish their sum. */
void fib_recording_lost(uint64_t more);

#endif
