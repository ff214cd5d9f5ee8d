/* SPDX-License-Identifier: MIT */
/*
 * memory_many.c - read many places of this process' memory that may be unmapped
 *
 * Bytes are written into a pipe and read back. A write returns EFAULT where it would fault. Other than on
 * Linux, a write of several pieces returns EFAULT also if the first ones could be copied, and it may
 * leave these in the pipe. So after an error the pipe is emptied, and each piece is written alone.
 */
#include "os/os.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/atomic.h"
#include "checker.h" /* of the folder that the Makefile chose */
#include "base/compiler.h"
#include "os/bsd/system.h"
#include "os/kept.h"

#define BATCH 128u /* pieces a call */

struct batch {
	struct iovec to[BATCH], from[BATCH];
	size_t n;
};

static void prepare(struct batch *b, const struct fib_os_piece pieces[], size_t n)
{
	b->n = n < BATCH ? n : BATCH;
	for (n = 0; n < b->n; n++) {
		b->to[n] = (struct iovec){pieces[n].buf, pieces[n].size};
		b->from[n] = (struct iovec){(void *)(uintptr_t)pieces[n].address, pieces[n].size};
	}
}

/* The number of complete pieces after so many bytes were copied. */
static size_t whole(const struct batch *b, ssize_t bytes)
{
	size_t i;

	for (i = 0; i < b->n && bytes >= (ssize_t)b->to[i].iov_len; i++)
		bytes -= (ssize_t)b->to[i].iov_len;
	return i;
}

/* The two ends of a pipe are different files here. 0: one of them is not open. */
static uint64_t identity_of(const int fds[2])
{
	const uint64_t from = fib_os_identity(fds[0]), to = fib_os_identity(fds[1]);

	return from && to ? from ^ (to << 1 | to >> 63) : 0;
}

bool fib_os_pipe_open(struct fib_os_pipe *pipe)
{
	/* Valgrind checks each byte that a program writes. */
	if (fib_checker_runs())
		return false;
	if (fib_bsd_pipe(pipe->fds) < 0)
		return false;
	pipe->identity = identity_of(pipe->fds);
	return true;
}

void fib_os_pipe_close(struct fib_os_pipe *pipe)
{
	struct fib_os_pipe old = *pipe;

	if (old.fds[0] < 0)
		return;
	/* First: a child forked in the middle of this closes what it finds. */
	*pipe = FIB_OS_NO_PIPE;
	fib_fence_release();
	close(old.fds[0]);
	close(old.fds[1]);
}

bool fib_os_pipe_ours(const struct fib_os_pipe *pipe)
{
	return pipe->fds[0] >= 0 && pipe->identity && identity_of(pipe->fds) == pipe->identity;
}

/* Read back the bytes that were written into the pipe. False: it is not this pipe any more. */
static bool take_back(const struct fib_os_pipe *pipe, const struct iovec *to, int count, ssize_t in)
{
	ssize_t out;

	do
		out = count == 1 ? read(pipe->fds[0], to->iov_base, (size_t)in)
				 : readv(pipe->fds[0], to, count);
	while (out < 0 && errno == EINTR);
	return out == in;
}

/* After a failed write, which may have left bytes. Returns its error. The pipe does not block. */
static int failed(const struct fib_os_pipe *pipe)
{
	const int error = errno;
	char rest[256]; /* small: a dump promises to need little stack */

	/* With another error it may not be this pipe any more. */
	while (error == EFAULT && read(pipe->fds[0], rest, sizeof rest) > 0)
		;
	return -error;
}

/*
 * All bytes written are read back, so that the pipe is empty again. Returns the number of complete
 * pieces.
 */
static size_t peek_by_pipe(struct fib_os_pipe *pipe, const struct batch *b)
{
	const ssize_t in = writev(pipe->fds[1], b->from, (int)b->n);

	if (in < 0)
		failed(pipe);
	if (in <= 0)
		return 0;
	if (take_back(pipe, b->to, (int)b->n, in))
		return whole(b, in);
	*pipe = FIB_OS_NO_PIPE;
	return 0;
}

/* Copy in portions that the pipe can hold. -EFAULT, or another errno: the pipe cannot be used. */
static int pass_through(const struct fib_os_pipe *pipe, uint64_t address, unsigned char *buf,
			size_t size)
{
	size_t done = 0;

	while (done < size) {
		const struct iovec to = {buf + done, size - done};
		ssize_t in =
			write(pipe->fds[1], (const void *)(uintptr_t)(address + done), size - done);

		if (in < 0 && errno == EINTR)
			continue;
		if (in < 0)
			return failed(pipe);
		if (!take_back(pipe, &to, 1, in))
			return -EIO;
		done += (size_t)in;
	}
	return 0;
}

fib_noinline int fib_os_peek_through(struct fib_os_pipe *pipe, uint64_t address, void *buf,
				     size_t size)
{
	int rc = -EBADF;

	if (pipe->fds[0] >= 0)
		rc = pass_through(pipe, address, buf, size);
	if (rc == 0 || rc == -EFAULT)
		return rc;
	/*
	 * The program may have closed the descriptors and reused the numbers, so they are not
	 * closed.
	 */
	*pipe = FIB_OS_NO_PIPE;
	return fib_os_peek(address, buf, size);
}

fib_noinline void fib_os_peek_many(struct fib_os_piece pieces[], size_t n, struct fib_os_pipe *pipe)
{
	struct batch b;
	size_t i = 0, got, alone;

	while (i < n) {
		prepare(&b, pieces + i, n - i);
		got = pipe->fds[0] >= 0 ? peek_by_pipe(pipe, &b) : 0;
		alone = got ? 0 : b.n;
		while (got--)
			pieces[i++].rc = 0;
		while (alone--) {
			pieces[i].rc = fib_os_peek_through(pipe, pieces[i].address, pieces[i].buf,
							   pieces[i].size);
			i++;
		}
	}
}
