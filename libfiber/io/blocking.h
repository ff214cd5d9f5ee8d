/* SPDX-License-Identifier: MIT */
/* blocking.h - waiting for a descriptor in the operating system. */
#ifndef FIB_IO_BLOCKING_H
#define FIB_IO_BLOCKING_H

#include <stdint.h>

/* Block until fd is ready for events (poll(2)'s bits): 0, -ETIMEDOUT, -EBADF. By a plain thread. */
int fib_block_for_fd(int fd, short events, int64_t deadline);

/* The same by a pinned fiber, which asks the policy before it takes its carrier along: also -EDEADLK, -ECANCELED. */
int fib_block_for_fd_pinned(int fd, short events, int64_t deadline);

#endif
