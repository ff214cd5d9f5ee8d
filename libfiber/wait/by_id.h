/* SPDX-License-Identifier: MIT */
/*
 * by_id.h - doing something to a fiber of which only the number is known
 *
 * For the service thread, on request from outside. Record index was found to have that id; what is done is done to the
 * fiber with that id or to none, whatever the record's fiber does meanwhile.
 */
#ifndef FIB_WAIT_BY_ID_H
#define FIB_WAIT_BY_ID_H

#include <stdint.h>

/* fiber_cancel(). 1: its wait has been ended; 0: it does not wait, or for what no cancellation ends, and will be told by its
 * next wait; -ESRCH: it has ended. */
int fib_cancel_by_id(uint64_t index, uint64_t id);

/* fiber_unpark(), where it waits in fiber_park() and nowhere else. 0; -EINVAL: it does not; -ESRCH: it has ended. */
int fib_wake_by_id(uint64_t index, uint64_t id);

#endif
