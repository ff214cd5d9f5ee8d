/* SPDX-License-Identifier: MIT */
/* longrun_ring.h - the long runs that were recorded last. See longrun.h for who may call. */
#ifndef FIB_WATCH_LONGRUN_RING_H
#define FIB_WATCH_LONGRUN_RING_H

#include "watch/longrun.h"

/* Have the ring; it is the process' and stays. Any thread. 0, -ENOMEM. */
int fib_longrun_ring_map(void);

/* The next event, empty but for its number. */
struct fib_longrun_event *fib_longrun_ring_add(void);

/* Event `number`, NULL when it is there no more, or not yet. */
struct fib_longrun_event *fib_longrun_ring_at(uint64_t number);

/* There never was any. */
void fib_longrun_ring_clear(void);

#endif
