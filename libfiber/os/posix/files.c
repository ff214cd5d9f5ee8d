/* SPDX-License-Identifier: MIT */
/* files.c - calls on files that wait as the descriptor does; file.c of each system has those that never wait */
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/quiet.h"

/*
 * The room that poll(2) promises. A pipe: PIPE_BUF bytes. A terminal: some hundred columns, and one
 * byte can become as many columns as a tab.
 */
#define PIPE_PIECE     ((size_t)PIPE_BUF)
#define TERMINAL_PIECE ((size_t)32)

static ssize_t result(ssize_t n)
{
	return n < 0 ? -errno : n;
}

fib_noinline ssize_t fib_os_read_slow(int fd, const struct iovec *v, int count)
{
	ssize_t n;

	do
		n = result(readv(fd, v, count));
	while (n == -EINTR);
	return n;
}

fib_noinline ssize_t fib_os_write_slow(int fd, const struct iovec *v, int count)
{
	ssize_t n;

	do
		n = result(writev(fd, v, count));
	while (n == -EINTR);
	return n;
}

fib_noinline ssize_t fib_os_read_at(int fd, void *buf, size_t size, uint64_t offset)
{
	ssize_t n;

	do
		n = result(pread(fd, buf, size, (off_t)offset));
	while (n == -EINTR);
	return n;
}

fib_noinline ssize_t fib_os_read_unsure(int fd, const struct iovec *v, int count)
{
	ssize_t n;

	do {
		n = fib_os_ready(fd, POLLIN);
		if (n == 0)
			n = result(readv(fd, v, count));
	} while (n == -EINTR);
	return n;
}

/* Write from the first non-empty piece, as much as there is certainly room for. */
fib_noinline ssize_t fib_os_write_unsure(int fd, const struct iovec *v, int count)
{
	const size_t piece = isatty(fd) ? TERMINAL_PIECE : PIPE_PIECE;
	struct iovec one;
	ssize_t n, done = 0;
	size_t size;

	while (count > 1 && !v->iov_len) {
		v++;
		count--;
	}
	do {
		n = fib_os_ready(fd, POLLOUT);
		if (n == 0) {
			size = count ? v->iov_len - (size_t)done : 0;
			one.iov_base = count ? (char *)v->iov_base + done : NULL;
			one.iov_len = size < piece ? size : piece;
			n = result(fib_os_quiet_writev(fd, &one, 1, 0));
		}
		if (n > 0)
			done += n;
	} while (n == -EINTR || (n > 0 && piece == TERMINAL_PIECE && (size_t)done < v->iov_len));
	return done ? done : n;
}

fib_noinline void fib_os_unclaim(int fd, int64_t moved, int64_t end)
{
	if (lseek(fd, 0, SEEK_CUR) == end)
		lseek(fd, moved, SEEK_SET);
}

fib_noinline int fib_os_open_file(const char *path, int flags, mode_t mode)
{
	int fd;

	do
		fd = open(path, flags, mode);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : fd;
}

fib_noinline int fib_os_close(int fd)
{
	/* The descriptor is closed even if it returns EINTR. */
	return close(fd) < 0 && errno != EINTR ? -errno : 0;
}
