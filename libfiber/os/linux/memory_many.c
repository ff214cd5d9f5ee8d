/* SPDX-License-Identifier: MIT */
/*
 * memory_many.c - read many places of this process' memory that may be unmapped
 *
 * process_vm_readv looks up and pins the page of each place, which takes longer than the rest of a
 * row of a list. A write into a pipe copies directly and fails where it would fault. Together with
 * reading back it takes a quarter of the time (a page each, 64 a call: 0.16 us against 0.65). So a
 * caller with a pipe uses it for all. A missing piece ends the call before it; the piece is then
 * written alone, and the write returns EFAULT.
 *
 * Even a strict sandbox allows write(2) and read(2): with a pipe opened before, process_vm_readv is
 * never called.
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

/* The number of complete pieces after so many bytes were copied. */
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
	/*
	 * Valgrind checks each byte that a program writes, and frames contain uninitialized bytes.
	 * Bytes read by process_vm_readv count as initialized.
	 */
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
	/* First: a child forked in the middle of this closes what it finds. */
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

/*
 * All bytes written are read back, so that the pipe is empty again. Returns the number of complete
 * pieces.
 */
static size_t peek_by_pipe(struct fib_os_pipe *pipe, const struct batch *b)
{
	/* Not libc's writev(): a sanitizer would check the bytes. */
	ssize_t in = syscall(SYS_writev, pipe->fds[1], b->from, b->n);

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
		/* Not libc's write(), as above. */
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
	size_t i = 0;

	while (i < n) {
		size_t got = 0;

		prepare(&b, pieces + i, n - i);
		got = pipe->fds[0] >= 0 ? peek_by_pipe(pipe, &b) : peek_by_call(&b);
		b.n -= got;
		while (got--)
			pieces[i++].rc = 0;
		/*
		 * The missing piece, or the first if the calls are forbidden, gets its own error.
		 */
		if (b.n) {
			pieces[i].rc = fib_os_peek_through(pipe, pieces[i].address, pieces[i].buf,
							   pieces[i].size);
			i++;
		}
	}
}
