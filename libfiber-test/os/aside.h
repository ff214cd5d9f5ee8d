/* SPDX-License-Identifier: MIT */
/* aside.h - the calling fiber waits for descriptors as if it blocked a carrier of its own */
#ifndef FIB_TEST_OS_ASIDE_H
#define FIB_TEST_OS_ASIDE_H

#include <poll.h>
#include <stdint.h>

/*
 * Let other fibers run until a descriptor is ready: 0, or -ETIMEDOUT at deadline, ns on
 * fib_os_now()'s clock. Another fiber may have taken meanwhile what was there.
 */
int fib_aside_for_fds(struct pollfd *fds, nfds_t n, int64_t deadline);

#endif
