/* SPDX-License-Identifier: MIT */
/*
 * disk.c - file operations in the poller's ring, if the poller is one
 *
 * The kernel does in a ring what an offload thread would do (file.c), on threads of its own or on
 * none. The rules are the same. An operation on the caller's memory is always awaited. A caller
 * that stops waiting for an open leaves it behind; it is cancelled, and a descriptor that it
 * returns all the same is closed.
 *
 * One thing is missing in a ring. read(2) and write(2) lock the file's offset while they run, so
 * two users of the offset, even in two processes, never move the same bytes. A ring operation at
 * the file's offset reads it at its start and sets it at its end. So this code first moves the
 * offset with lseek(2), which locks it, past the bytes it is going to move, and passes their
 * position to the ring.
 *
 * If fewer bytes were moved, the offset is put back, unless it was moved on meanwhile. In that case
 * a failed write leaves a hole in the file. Appending needs no offset.
 *
 * An offload thread does what the ring refuses or cancels by itself (because the thread that
 * started the operation has exited). The functions return -EAGAIN then.
 */
#include "io/disk.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/io.h>
#include <fiber/op.h>

#include "io/op.h"
#include "os/os.h"
#include "poll/ring.h"

static bool refused(ssize_t rc)
{
	return rc == -EINVAL || rc == -EOPNOTSUPP || rc == -EBUSY || rc == -ENOMEM ||
	       rc == -ECANCELED || rc == -EINTR || rc == -EAGAIN;
}

/* The sum of the lengths; 0 if it is more than one call can move. */
static size_t size_of(const struct iovec *v, int count)
{
	size_t size = 0;

	while (count-- > 0)
		if (__builtin_add_overflow(size, v[count].iov_len, &size) || size > SSIZE_MAX)
			return 0;
	return size;
}

static ssize_t transfer_at(int fd, const struct iovec *v, int count, bool writing, int64_t at)
{
	struct io_uring_sqe *entry;
	struct fiber_op *op;
	int rc = fiber_op_prepare(&op, &entry);

	if (rc < 0)
		return rc;
	fib_ring_fill_move(entry, fd, v, count, writing, at);
	return fib_op_await_uncancellable(op);
}

/* Move only the first size bytes; size is less than the total. */
static ssize_t transfer_part(int fd, const struct iovec *v, size_t size, bool writing, int64_t at)
{
	struct iovec *part;
	int last = 0;
	ssize_t n;

	for (n = (ssize_t)size; (size_t)n > v[last].iov_len; last++)
		n -= (ssize_t)v[last].iov_len;
	part = malloc(((size_t)last + 1) * sizeof *part);
	if (!part)
		return -ENOMEM;
	memcpy(part, v, ((size_t)last + 1) * sizeof *part);
	part[last].iov_len = (size_t)n;
	n = transfer_at(fd, part, last + 1, writing, at);
	free(part);
	return n;
}

ssize_t fib_disk_transfer(int fd, const struct iovec *v, int count, bool writing,
			  const struct fib_look *look)
{
	const size_t size = size_of(v, count);
	size_t claimed;
	int64_t at;
	ssize_t n;

	if (!size || !fib_op_is_at_hand())
		return -EAGAIN;
	if (!fib_descriptor_same(fd, look))
		return -EBADF;
	claimed = fib_os_claim(fd, size, writing, &at);
	/* Orders the claim before a close during the wait. */
	fib_descriptor_notice(fd);
	if (!claimed)
		return -EAGAIN;
	if (claimed < size)
		n = transfer_part(fd, v, claimed, writing, at);
	else
		n = transfer_at(fd, v, count, writing, at);
	if (at >= 0 && n < (ssize_t)claimed && fib_descriptor_same(fd, look))
		fib_os_unclaim(fd, at + (n > 0 ? n : 0), at + (int64_t)claimed);
	return refused(n) ? -EAGAIN : n;
}

/* -- opening -- */

static void *do_close(void *arg)
{
	fib_os_close((int)(intptr_t)arg);
	return NULL;
}

/*
 * The caller has left. This runs on a carrier, and closing may take long, so a thread does it
 * without being awaited.
 */
static void close_unwanted(void *arg, int fd)
{
	int rc;

	(void)arg;
	if (fd < 0)
		return;
	rc = fiber_block(do_close, (void *)(intptr_t)fd, NULL, 0);
	if (rc == -EAGAIN || rc == -ENOMEM)
		fib_os_close(fd);
}

int fib_disk_open(const char *path, int flags, mode_t mode, int64_t deadline)
{
	struct io_uring_sqe *entry;
	struct fiber_op *op;
	bool left = false;
	int rc;

	if (!fib_op_is_at_hand())
		return -EAGAIN;
	rc = fiber_op_prepare(&op, &entry);
	if (rc == 0) {
		fib_ring_fill_open(entry, path, flags, mode);
		rc = fib_op_await_or_leave(op, deadline, close_unwanted, NULL, &left);
	}
	return refused(rc) && !left ? -EAGAIN : rc;
}
