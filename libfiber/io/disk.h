/* SPDX-License-Identifier: MIT */
/* disk.h - files that the poller's ring serves, where the poller is one. See disk.c for the rule. */
#ifndef FIB_IO_DISK_H
#define FIB_IO_DISK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "io/descriptor.h"

/*
 * readv(2) or writev(2) of a file that has said FIB_OS_SLOW (os.h) after `look`, and that was noticed since. The bytes moved, or a
 * negative errno. It is not given up once it has begun. -EAGAIN: nothing was moved, and it is for a thread to do.
 */
ssize_t fib_disk_transfer(int fd, const struct iovec *v, int count, bool writing,
			  const struct fib_look *look);

/* open(2): the new descriptor, -ETIMEDOUT, -ECANCELED, or another negative errno. -EAGAIN: it is for a thread to do. */
int fib_disk_open(const char *path, int flags, mode_t mode, int64_t deadline);

#endif
