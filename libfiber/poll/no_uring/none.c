/* SPDX-License-Identifier: MIT */
/* none.c - the build without liburing: no poller on io_uring, and no ring */
#include <errno.h>

#include "base/compiler.h"
#include "poll/poller.h"
#include "poll/ring.h"

static int open_poller(struct fib_poller **ret)
{
	(void)ret;
	return -ENOSYS;
}

const struct fib_poller_ops fib_poller_uring = {.name = "uring", .open = open_poller};

int fib_ring_open(struct fib_ring **ret)
{
	(void)ret;
	return -ENOSYS;
}

void fib_ring_close(struct fib_ring *ring)
{
	(void)ring;
}

int fib_ring_descriptor(struct fib_ring *ring)
{
	(void)ring;
	return -ENOSYS;
}

int fib_ring_begin(struct fib_ring *ring, const struct io_uring_sqe *entry, struct fib_ring_op *op)
{
	(void)ring;
	(void)entry;
	(void)op;
	return -ENOSYS;
}

void fib_ring_cancel(struct fib_ring *ring, const struct fib_ring_op *op)
{
	(void)ring;
	(void)op;
}

int fib_ring_take(struct fib_ring *ring, struct fib_ring_op **ended, int max)
{
	(void)ring;
	(void)ended;
	(void)max;
	return 0;
}

int fib_ring_perform(const struct io_uring_sqe *entry, int64_t deadline)
{
	(void)entry;
	(void)deadline;
	return -ENOSYS;
}

void fib_ring_fill_move(struct io_uring_sqe *entry, int fd, const struct iovec *v, int count,
			bool writing, int64_t at)
{
	(void)entry;
	(void)fd;
	(void)v;
	(void)count;
	(void)writing;
	(void)at;
}

void fib_ring_fill_open(struct io_uring_sqe *entry, const char *path, int flags, mode_t mode)
{
	(void)entry;
	(void)path;
	(void)flags;
	(void)mode;
}
