/* SPDX-License-Identifier: MIT */
/* entry.c - the ring entries that libfiber itself uses */
#include <fcntl.h>

#include "poll/uring/inner.h"

void fib_ring_fill_move(struct io_uring_sqe *entry, int fd, const struct iovec *v, int count,
			bool writing, int64_t at)
{
	const uint64_t offset = (uint64_t)at;

	if (writing && count == 1)
		io_uring_prep_write(entry, fd, v->iov_base, (unsigned)v->iov_len, offset);
	else if (writing)
		io_uring_prep_writev(entry, fd, v, (unsigned)count, offset);
	else if (count == 1)
		io_uring_prep_read(entry, fd, v->iov_base, (unsigned)v->iov_len, offset);
	else
		io_uring_prep_readv(entry, fd, v, (unsigned)count, offset);
}

void fib_ring_fill_open(struct io_uring_sqe *entry, const char *path, int flags, mode_t mode)
{
	io_uring_prep_openat(entry, AT_FDCWD, path, flags, mode);
	/* The kernel first tries with O_NONBLOCK, and for a FIFO that has another meaning. */
	entry->flags |= IOSQE_ASYNC;
}
