/* SPDX-License-Identifier: MIT */
/*
 * disk.c - files that the poller's ring serves, where the poller is one
 *
 * What else a thread would do for a fiber (file.c) the kernel does on threads of its own, or on none. The rules are the
 * same: what works on the caller's memory is awaited, whatever comes, and whoever gives up opening leaves it
 * behind, where it is cancelled, and what it opened all the same is closed.
 *
 * One thing the kernel does not do for a ring: read(2) and write(2) hold the file's offset as long as they last,
 * so that two who share it, perhaps through two descriptors or in two processes, never move the same bytes. A
 * ring's operation at the file's offset reads it when it begins and sets it when it has ended. So whoever goes through the ring
 * moves the offset first, with lseek(2), which holds it, past the bytes that he is going to move: those are his, and he
 * names their place. When fewer came of it the offset is put back, unless it was moved on meanwhile: then those that
 * could not be written are a hole in the file. Who appends needs no offset.
 *
 * Whatever the ring does not do, or gives up without being asked, since a thread that began it has ended, a
 * thread of ours does. So that is what the caller is told then.
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

/* 0 when they are more than one call can have. */
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

/* Of the pieces the first size bytes only, which are fewer. */
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
	/* That comes before a close that comes while we wait. */
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

/* Whoever asked has gone. On a carrier, and to close a file may take long: a thread does it, and nobody waits. */
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
