/* SPDX-License-Identifier: MIT */
/* file.h - moving bytes where the descriptor cannot be asked not to block. See file.c for the rule. */
#ifndef FIB_IO_FILE_H
#define FIB_IO_FILE_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "io/descriptor.h"

/*
 * Go on with a read or a write that has said `why`, FIB_OS_UNSURE or FIB_OS_SLOW (os.h), after `look`. The bytes
 * moved, -EAGAIN: wait for the descriptor and try again; or another error. What is slow is not given up once
 * it has begun, whatever the deadline.
 */
ssize_t fib_file_read(int fd, const struct iovec *v, int count, ssize_t why,
		      const struct fib_look *look, int64_t deadline);
ssize_t fib_file_write(int fd, const struct iovec *v, int count, ssize_t why,
		       const struct fib_look *look, int64_t deadline);

#endif
