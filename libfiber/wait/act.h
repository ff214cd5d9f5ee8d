/* SPDX-License-Identifier: MIT */
/*
 * act.h - doing something to a fiber of which only the number is known
 *
 * For the service thread, on request from outside. Record index was found to have that id; what is done is done to the
 * fiber with that id or to none, whatever the record's fiber does meanwhile.
 */
#ifndef FIB_WAIT_ACT_H
#define FIB_WAIT_ACT_H

#include <stdint.h>

/* fiber_cancel(). 1: its wait has been ended; 0: it does not wait, or for what no cancellation ends, and will be told by its
 * next wait; -ESRCH: it has ended. */
int fib_act_cancel(uint64_t index, uint64_t id);

/* fiber_unpark(), where it waits in fiber_park() and nowhere else. 0; -EINVAL: it does not; -ESRCH: it has ended. */
int fib_act_wake(uint64_t index, uint64_t id);

#endif
