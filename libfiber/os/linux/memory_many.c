/* SPDX-License-Identifier: MIT */
/*
 * memory_many.c - reading many places of our own memory that may not be there
 *
 * For each place, process_vm_readv finds its page and pins it, which takes longer than all else that a row of a list costs. A write into a
 * pipe copies the bytes from where they are, as every write does, and fails where it would fault: with reading them back a
 * quarter of the time (a page each, 64 a call: 0.16 us against 0.65). So what is there goes through a pipe of
 * the caller's. What is missing, or finds no room or no pipe, goes the other way.
 */
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/compiler.h"

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

/* Whatever was written is read back, so that the pipe is empty for the next. */
static size_t peek_by_pipe(struct fib_os_pipe *pipe, const struct batch *b)
{
	/* Not libc's: a sanitizer would look at the bytes first. */
	ssize_t in = syscall(SYS_writev, pipe->fds[1], b->from, b->n), out;

	if (in <= 0)
		return 0;
	out = readv(pipe->fds[0], b->to, (int)b->n);
	if (out == in)
		return whole(b, out);
	fib_os_pipe_close(pipe);
	return 0;
}

bool fib_os_pipe_open(struct fib_os_pipe *pipe)
{
	return pipe2(pipe->fds, O_CLOEXEC | O_NONBLOCK) == 0;
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

fib_noinline void fib_os_peek_many(struct fib_os_piece pieces[], size_t n, struct fib_os_pipe *pipe)
{
	struct batch b;
	size_t i = 0;

	while (i < n) {
		size_t got = 0;

		prepare(&b, pieces + i, n - i);
		if (pipe->fds[0] >= 0)
			got = peek_by_pipe(pipe, &b);
		if (!got)
			got = peek_by_call(&b);
		b.n -= got;
		while (got--)
			pieces[i++].rc = 0;
		/* The one that is missing, or the first where the calls are forbidden, says why by itself. */
		if (b.n) {
			pieces[i].rc =
				fib_os_peek(pieces[i].address, pieces[i].buf, pieces[i].size);
			i++;
		}
	}
}
