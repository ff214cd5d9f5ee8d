/* SPDX-License-Identifier: MIT */
/* recording.h - the one recording of a process that may be under way. All by the service thread. */
#ifndef FIB_SERVICE_RECORDING_H
#define FIB_SERVICE_RECORDING_H

#include <stdint.h>

#include "wire/record.h"

/* Begin one with rings of about so many events, in all runtimes. 0 and *ret; -EBUSY when one is under way, -ESRCH without
 * a runtime, -ENOMEM. */
int fib_recording_start(unsigned events, int64_t now, struct fib_wire_record_is *ret);

/* Somebody reads recording id: runtimes that began since then record too. 0 and *ret; -ESRCH when it is not, or no more,
 * under way. */
int fib_recording_read(uint64_t id, int64_t now, struct fib_wire_record_is *ret);
int fib_recording_stop(uint64_t id, int64_t now, struct fib_wire_record_is *ret);

/* Events a ring has now; 0: nobody records. */
unsigned fib_recording_events(void);

/* Once a tick: end one whose reader is gone, and give memory back. */
void fib_recording_look(int64_t now);

/* In a forked child: it was its parent's. */
void fib_recording_forget(void);

#endif
