/* SPDX-License-Identifier: MIT */
/* aside.h - a fiber, or the main thread of a whole program, waits for descriptors while others run */
#ifndef FIB_TEST_OS_ASIDE_H
#define FIB_TEST_OS_ASIDE_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Whether the caller may wait so: a fiber, or the main thread of a whole program in its schedule. Other
 * threads block.
 */
bool fib_aside_may(void);

/*
 * Let other fibers run until a descriptor is ready: 0, or -ETIMEDOUT at deadline, ns on
 * fib_os_now()'s clock. Another fiber may have taken meanwhile what was there.
 */
int fib_aside_for_fds(struct pollfd *fds, nfds_t n, int64_t deadline);

#endif
