/* SPDX-License-Identifier: MIT */
/*
 * file.h - read and write descriptors that block although they are asked not to. See file.c for the
 * rule.
 */
#ifndef FIB_IO_FILE_H
#define FIB_IO_FILE_H

#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "io/descriptor.h"

/*
 * Continue a read or write that returned `why`, FIB_OS_UNSURE or FIB_OS_SLOW (os.h), after `look`.
 * Returns the number of bytes moved; -EAGAIN: wait for the descriptor and try again; or another
 * error. A slow operation is not abandoned once it has started, even if the deadline passes.
 */
ssize_t fib_file_read(int fd, const struct iovec *v, int count, ssize_t why,
		      const struct fib_look *look, int64_t deadline);
ssize_t fib_file_write(int fd, const struct iovec *v, int count, ssize_t why,
		       const struct fib_look *look, int64_t deadline);

#endif
