/* SPDX-License-Identifier: MIT */
/* disk.h - file operations in the poller's ring, if the poller is one. See disk.c for the rule. */
#ifndef FIB_IO_DISK_H
#define FIB_IO_DISK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "io/descriptor.h"

/*
 * readv(2) or writev(2) on a file that returned FIB_OS_SLOW (os.h) after `look`.
 * fib_descriptor_notice() has been called since. Returns the bytes moved or a negative errno. Not
 * abandoned once it has started. -EAGAIN: nothing was moved; a thread must do it.
 */
ssize_t fib_disk_transfer(int fd, const struct iovec *v, int count, bool writing,
			  const struct fib_look *look);

/*
 * open(2): the new descriptor, -ETIMEDOUT, -ECANCELED, or another negative errno. -EAGAIN: a thread
 * must do it.
 */
int fib_disk_open(const char *path, int flags, mode_t mode, int64_t deadline);

#endif
