/* SPDX-License-Identifier: MIT */
/*
 * by_id.h - cancel or wake a fiber that is known only by its number
 *
 * For the service thread, on request from outside. `index` is a record that was found to have this
 * id. The call acts on the fiber with this id or on none, even if the record is being reused.
 */
#ifndef FIB_WAIT_BY_ID_H
#define FIB_WAIT_BY_ID_H

#include <stdint.h>

/*
 * fiber_cancel(). Returns 1: its wait was ended; 0: it does not wait, or cannot be cancelled there,
 * and will be cancelled in its next wait; -ESRCH: it has exited.
 */
int fib_cancel_by_id(uint64_t index, uint64_t id);

/*
 * fiber_unpark(), but only for a fiber that is in fiber_park(). Returns 0; -EINVAL: it is not;
 * -ESRCH: it has exited.
 */
int fib_wake_by_id(uint64_t index, uint64_t id);

#endif
