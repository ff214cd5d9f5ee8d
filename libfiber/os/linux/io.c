/* SPDX-License-Identifier: MIT */
/*
 * io.c - reading and writing without ever blocking, whatever the descriptor's flags say
 *
 * The file status flags belong to the program: a blocking descriptor must not block a carrier and must
 * be blocking afterwards. Sockets take the wish per call (MSG_DONTWAIT); for everything else
 * RWF_NOWAIT where the file knows it, and else a look with poll first.
 */
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/compiler.h"

static bool nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && (flags & O_NONBLOCK);
}

static int ready(int fd, short events)
{
	struct pollfd p = {.fd = fd, .events = events};
	int n = poll(&p, 1, 0);

	if (n < 0)
		return -errno;
	if (n && (p.revents & POLLNVAL))
		return -EBADF;
	return n ? 0 : -EAGAIN;
}

/* EAGAIN with RWF_NOWAIT: of a disk, data that is not cached, which a short blocking call fetches; of
 * anything else, nothing there, and to look with poll and then call would block when another reader
 * comes between. */
static bool on_disk(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode));
}

/* A file that is no socket. */
static ssize_t read_file(int fd, void *buf, size_t size)
{
	struct iovec v = {buf, size};
	ssize_t n;
	int rc;

	if (nonblocking(fd)) {
		n = read(fd, buf, size);
		return n < 0 ? -errno : n;
	}
	n = preadv2(fd, &v, 1, -1, RWF_NOWAIT);
	if (n >= 0 || (errno != EOPNOTSUPP && errno != EAGAIN))
		return n < 0 ? -errno : n;
	if (errno == EAGAIN && !on_disk(fd))
		return -EAGAIN;
	rc = ready(fd, POLLIN);
	if (rc < 0)
		return rc;
	n = read(fd, buf, size);
	return n < 0 ? -errno : n;
}

/* A pipe that has room for one byte blocks on the second, so what cannot be asked not to wait is
 * given no more than poll promises: PIPE_BUF bytes for a pipe, and a terminal takes as little. */
static ssize_t write_file(int fd, const void *buf, size_t size)
{
	struct iovec v = {(void *)(uintptr_t)buf, size};
	ssize_t n;
	int rc;

	if (nonblocking(fd)) {
		n = write(fd, buf, size);
		return n < 0 ? -errno : n;
	}
	n = pwritev2(fd, &v, 1, -1, RWF_NOWAIT);
	if (n >= 0 || (errno != EOPNOTSUPP && errno != EAGAIN))
		return n < 0 ? -errno : n;
	if (errno == EAGAIN && !on_disk(fd))
		return -EAGAIN;
	rc = ready(fd, POLLOUT);
	if (rc < 0)
		return rc;
	n = write(fd, buf, size < 4096 ? size : 4096);
	return n < 0 ? -errno : n;
}

fib_noinline ssize_t fib_os_read(int fd, void *buf, size_t size)
{
	ssize_t n;

	/* recv() would wait for something to give nothing of. */
	if (!size) {
		n = read(fd, buf, 0);
		return n < 0 ? -errno : n;
	}
	do {
		n = recv(fd, buf, size, MSG_DONTWAIT);
		if (n < 0 && errno == ENOTSOCK)
			n = read_file(fd, buf, size);
		else if (n < 0)
			n = -errno;
	} while (n == -EINTR);
	return n;
}

fib_noinline ssize_t fib_os_write(int fd, const void *buf, size_t size)
{
	ssize_t n;

	do {
		n = send(fd, buf, size, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == ENOTSOCK)
			n = write_file(fd, buf, size);
		else if (n < 0)
			n = -errno;
	} while (n == -EINTR);
	return n;
}

fib_noinline int fib_os_accept(int fd, struct sockaddr *addr, socklen_t *addrlen)
{
	int n;

	do {
		if (!nonblocking(fd)) {
			n = ready(fd, POLLIN);
			if (n < 0)
				return n;
		}
		n = accept4(fd, addr, addrlen, SOCK_CLOEXEC);
		n = n < 0 ? -errno : n;
		/* The connection died in the queue: there may be another. */
	} while (n == -EINTR || n == -ECONNABORTED);
	return n;
}

/* There is no flag for one connect: the socket is made non-blocking for the call and put back. */
fib_noinline int fib_os_connect(int fd, const struct sockaddr *addr, socklen_t addrlen)
{
	int flags = fcntl(fd, F_GETFL);
	int rc;

	if (flags < 0)
		return -errno;
	if (!(flags & O_NONBLOCK) && fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	rc = connect(fd, addr, addrlen) < 0 ? -errno : 0;
	if (!(flags & O_NONBLOCK))
		fcntl(fd, F_SETFL, flags);
	return rc == -EINTR ? -EINPROGRESS : rc;
}

fib_noinline bool fib_os_is_tcp(int fd)
{
	int protocol = 0;
	socklen_t size = sizeof protocol;

	return getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) == 0 &&
	       protocol == IPPROTO_TCP;
}

fib_noinline int fib_os_socket_error(int fd)
{
	int error = 0;
	socklen_t size = sizeof error;

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		return -errno;
	return -error;
}

fib_noinline int fib_os_poll(struct pollfd *fds, nfds_t n, int64_t deadline)
{
	struct timespec t, *limit = NULL;
	int rc;

	do {
		if (deadline != INT64_MAX) {
			int64_t left = deadline > 0 ? deadline - fib_os_now() : 0;

			left = left > 0 ? left : 0;
			t.tv_sec = (time_t)(left / 1000000000);
			t.tv_nsec = (long)(left % 1000000000);
			limit = &t;
		}
		rc = ppoll(fds, n, limit, NULL);
	} while (rc < 0 && errno == EINTR);
	return rc < 0 ? -errno : rc;
}

fib_noinline int fib_os_close(int fd)
{
	/* Linux has closed the descriptor even when it says EINTR. */
	return close(fd) < 0 && errno != EINTR ? -errno : 0;
}
