/* SPDX-License-Identifier: MIT */
/*
 * memory_many.c - reading many places of our own memory that may not be there
 *
 * For each place, process_vm_readv finds its page and pins it, which takes longer than all else that a row of a list costs. A write into a
 * pipe copies the bytes from where they are, as every write does, and fails where it would fault: with reading them back a
 * quarter of the time (a page each, 64 a call: 0.16 us against 0.65). So where the caller has a pipe, all goes through it. A piece that is
 * missing ends the call before it; it is asked for alone, and the write says EFAULT.
 *
 * A sandbox that allows little allows write(2) and read(2): with a pipe that was opened before, process_vm_readv is not called at all.
 */
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/atomic.h"
#include "checker.h" /* of the folder that the Makefile chose */
#include "base/compiler.h"
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

/* How many pieces are whole when so many bytes were copied. */
static size_t whole(const struct batch *b, ssize_t bytes)
{
	size_t i;

	for (i = 0; i < b->n && bytes >= (ssize_t)b->to[i].iov_len; i++)
		bytes -= (ssize_t)b->to[i].iov_len;
	return i;
}

static size_t peek_by_call(const struct batch *b)
{
	return whole(b, process_vm_readv(getpid(), b->to, b->n, b->from, b->n, 0));
}

bool fib_os_pipe_open(struct fib_os_pipe *pipe)
{
	/* Valgrind checks each byte that a program writes, and frames have bytes that nothing was written to. What is read in the
	 * other way counts as written by the kernel. */
	if (fib_checker_runs())
		return false;
	if (pipe2(pipe->fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return false;
	pipe->identity = fib_os_identity(pipe->fds[0]);
	return true;
}

void fib_os_pipe_close(struct fib_os_pipe *pipe)
{
	struct fib_os_pipe old = *pipe;

	if (old.fds[0] < 0)
		return;
	/* First: a process forked in the middle of this closes what it finds. */
	*pipe = FIB_OS_NO_PIPE;
	fib_fence_release();
	close(old.fds[0]);
	close(old.fds[1]);
}

bool fib_os_pipe_ours(const struct fib_os_pipe *pipe)
{
	return fib_os_same(pipe->fds[0], pipe->identity) &&
	       fib_os_same(pipe->fds[1], pipe->identity);
}

/* The bytes that were written into it, read back. False: it is no pipe of ours. */
static bool take_back(const struct fib_os_pipe *pipe, const struct iovec *to, int count, ssize_t in)
{
	ssize_t out;

	do
		out = count == 1 ? read(pipe->fds[0], to->iov_base, (size_t)in)
				 : readv(pipe->fds[0], to, count);
	while (out < 0 && errno == EINTR);
	return out == in;
}

/* Whatever was written is read back, so that the pipe is empty for the next. How many pieces are whole. */
static size_t peek_by_pipe(struct fib_os_pipe *pipe, const struct batch *b)
{
	/* Not libc's: a sanitizer would look at the bytes first. */
	ssize_t in = syscall(SYS_writev, pipe->fds[1], b->from, b->n);

	if (in <= 0)
		return 0;
	if (take_back(pipe, b->to, (int)b->n, in))
		return whole(b, in);
	*pipe = FIB_OS_NO_PIPE;
	return 0;
}

/* As much as a pipe holds at a time. -EFAULT, or another number: the pipe is no good. */
static int pass_through(const struct fib_os_pipe *pipe, uint64_t address, unsigned char *buf,
			size_t size)
{
	size_t done = 0;

	while (done < size) {
		const struct iovec to = {buf + done, size - done};
		/* Not libc's, as above. */
		ssize_t in = syscall(SYS_write, pipe->fds[1],
				     (const void *)(uintptr_t)(address + done), size - done);

		if (in < 0 && errno == EINTR)
			continue;
		if (in < 0)
			return -errno;
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
	/* Numbers that the program has closed may be in use by it: they are not closed here. */
	*pipe = FIB_OS_NO_PIPE;
	return fib_os_peek(address, buf, size);
}

fib_noinline void fib_os_peek_many(struct fib_os_piece pieces[], size_t n, struct fib_os_pipe *pipe)
{
	struct batch b;
	size_t i = 0;

	while (i < n) {
		size_t got = 0;

		prepare(&b, pieces + i, n - i);
		got = pipe->fds[0] >= 0 ? peek_by_pipe(pipe, &b) : peek_by_call(&b);
		b.n -= got;
		while (got--)
			pieces[i++].rc = 0;
		/* The one that is missing, or the first where the calls are forbidden, says why by itself. */
		if (b.n) {
			pieces[i].rc = fib_os_peek_through(pipe, pieces[i].address, pieces[i].buf,
							   pieces[i].size);
			i++;
		}
	}
}
