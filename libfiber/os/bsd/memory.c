/* SPDX-License-Identifier: MIT */
/*
 * memory.c - read memory of this process that may be unmapped
 *
 * The kernel copies it into a pipe, and returns EFAULT instead of raising a signal. One pipe is kept for
 * the caller that has taken it. Any other caller makes a pipe of its own: another thread, a signal handler
 * that interrupted the caller with the pipe, or a forked child, which shares the pipe with its parent.
 */
#include "os/os.h"

#include <errno.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/bsd/system.h"

#define PIPE_PIECE 4096u /* always fits an empty pipe */

static void drain(int fd)
{
	char rest[256]; /* small: a dump promises to need little stack */

	while (read(fd, rest, sizeof rest) > 0)
		;
}

static int peek_by_pipe(const int fds[2], uint64_t address, void *buf, size_t size)
{
	size_t done = 0;

	while (done < size) {
		const size_t in_page = PIPE_PIECE - (size_t)((address + done) % PIPE_PIECE);
		const size_t n = size - done < in_page ? size - done : in_page;
		ssize_t in, out;

		/* A piece never crosses a page, so it is mapped as a whole or not at all. */
		in = write(fds[1], (const void *)(uintptr_t)(address + done), n);
		if (in < 0 && errno == EINTR)
			continue;
		if (in < 0)
			return -errno;
		out = read(fds[0], (char *)buf + done, (size_t)in);
		if (out != in) {
			drain(fds[0]);
			return -EIO;
		}
		done += (size_t)in;
	}
	return 0;
}

static struct {
	_Atomic uint32_t taken; /* A: memory.pipe */
	pid_t owner;		/* L taken: the process that made it; 0: none yet */
	int fds[2];		/* L taken */
} kept;

static int peek_by_own_pipe(uint64_t address, void *buf, size_t size)
{
	int fds[2], rc = fib_bsd_pipe(fds);

	if (rc < 0)
		return rc;
	rc = peek_by_pipe(fds, address, buf, size);
	close(fds[0]);
	close(fds[1]);
	return rc;
}

static int peek_by_kept_pipe(uint64_t address, void *buf, size_t size)
{
	const pid_t self = getpid();

	if (kept.owner != self) {
		/* The parent's ends stay open: their numbers may mean other files by now. */
		const int rc = fib_bsd_pipe(kept.fds);

		if (rc < 0)
			return rc;
		kept.owner = self;
	}
	return peek_by_pipe(kept.fds, address, buf, size);
}

fib_noinline int fib_os_peek(uint64_t address, void *buf, size_t size)
{
	int rc;

	/* pairs: memory.pipe -- sees the pipe that the last user made, and left empty. */
	if (fib_swap(&kept.taken, 1))
		return peek_by_own_pipe(address, buf, size);
	rc = peek_by_kept_pipe(address, buf, size);
	/* label: memory.pipe */
	fib_store_release(&kept.taken, 0);
	return rc;
}
