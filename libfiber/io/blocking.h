/* SPDX-License-Identifier: MIT */
/* blocking.h - block the thread until a descriptor is ready */
#ifndef FIB_IO_BLOCKING_H
#define FIB_IO_BLOCKING_H

#include <stdint.h>

/* Block until fd is ready for events (poll(2) bits): 0, -ETIMEDOUT, -EBADF. For plain threads. */
int fib_block_for_fd(int fd, short events, int64_t deadline);

/*
 * The same for a pinned fiber. Applies the pinned-blocking policy before it blocks: also -EDEADLK,
 * -ECANCELED.
 */
int fib_block_for_fd_pinned(int fd, short events, int64_t deadline);

#endif
