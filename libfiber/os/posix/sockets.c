/* SPDX-License-Identifier: MIT */
/*
 * sockets.c - receive and connect without blocking, even on blocking sockets, and what a socket is
 *
 * Receiving has a flag per call (MSG_DONTWAIT). connect(2) has none: a blocking socket is made
 * non-blocking for the call and restored. io.c of each system has the other calls.
 */
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/compiler.h"

static ssize_t result(ssize_t n)
{
	return n < 0 ? -errno : n;
}

fib_noinline ssize_t fib_os_recvfrom(int fd, void *buf, size_t size, int flags,
				     struct sockaddr *addr, socklen_t *addrlen)
{
	ssize_t n;

	do
		n = recvfrom(fd, buf, size, flags | MSG_DONTWAIT, addr, addrlen);
	while (n < 0 && errno == EINTR);
	return result(n);
}

fib_noinline ssize_t fib_os_recvmsg(int fd, struct msghdr *msg, int flags)
{
	ssize_t n;

	do
		n = recvmsg(fd, msg, flags | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return result(n);
}

/* A blocking socket is made non-blocking for the call and restored. */
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

fib_noinline bool fib_os_is_stream(int fd)
{
	int type = 0;
	socklen_t size = sizeof type;

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

fib_noinline int fib_os_socket_error(int fd)
{
	int error = 0;
	socklen_t size = sizeof error;

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		return -errno;
	return -error;
}

fib_noinline int fib_os_ready(int fd, short events)
{
	struct pollfd p = {.fd = fd, .events = events};
	int n = poll(&p, 1, 0);

	if (n < 0)
		return -errno;
	if (n && (p.revents & POLLNVAL))
		return -EBADF;
	return n ? 0 : -EAGAIN;
}

bool fib_os_may_print(void)
{
	return fib_os_ready(STDERR_FILENO, POLLOUT) != -EAGAIN;
}
