/* SPDX-License-Identifier: MIT */
/* longrun_place.h - where in the program's own code a long run was seen */
#ifndef FIB_WATCH_LONGRUN_PLACE_H
#define FIB_WATCH_LONGRUN_PLACE_H

#include "os/place.h"
#include "watch/longrun.h"

/* How a place was found. */
enum fib_longrun_sure {
	FIB_LONGRUN_UNKNOWN,
	FIB_LONGRUN_PROBABLE, /* the first address in the stack that a call may return to */
	FIB_LONGRUN_EXACT,    /* the fiber was there */
};

/*
 * Find the program's code that the fiber of the event was in, or had called the C library or
 * libfiber from. *ret_function: where the function starts, 0: unknown. By the service thread.
 */
enum fib_longrun_sure fib_longrun_place(const struct fib_longrun_event *e, struct fib_os_pipe *pipe,
					struct fib_os_place *ret, uint64_t *ret_function);

#endif
