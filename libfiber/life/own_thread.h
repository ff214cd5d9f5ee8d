/* SPDX-License-Identifier: MIT */
/* own_thread.h - the first function of a fiber with thread-locals of its own */
#ifndef FIB_LIFE_OWN_THREAD_H
#define FIB_LIFE_OWN_THREAD_H

#include <fiber/fiber.h>

/* Begin to use the block, and call fn(arg), or the function that libfiber-posix has set with both. */
void *fib_own_thread_run(fiber_fn *fn, void *arg);

#endif
