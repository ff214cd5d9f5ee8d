/* SPDX-License-Identifier: MIT */
/*
 * io.c - sockets that never block, even blocking ones, and poll(2)
 *
 * Messages have a flag per call (MSG_DONTWAIT). connect(2) has none: a blocking socket is made
 * non-blocking for the call and restored. For accept see accept.c, for files see file.c.
 */
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/timespec.h"

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

fib_noinline ssize_t fib_os_sendto(int fd, const void *buf, size_t size, int flags,
				   const struct sockaddr *addr, socklen_t addrlen)
{
	ssize_t n;

	do
		n = sendto(fd, buf, size, flags | MSG_DONTWAIT | MSG_NOSIGNAL, addr, addrlen);
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

fib_noinline ssize_t fib_os_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	ssize_t n;

	do
		n = sendmsg(fd, msg, flags | MSG_DONTWAIT | MSG_NOSIGNAL);
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

fib_noinline bool fib_os_is_tcp(int fd)
{
	int protocol = 0;
	socklen_t size = sizeof protocol;

	return getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) == 0 &&
	       protocol == IPPROTO_TCP;
}

fib_noinline bool fib_os_poll_is_exact(int fd)
{
	int domain = 0;
	socklen_t size = sizeof domain;
	struct stat st;

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0)
		return domain == AF_UNIX;
	return errno == ENOTSOCK && fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
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

/* The timeout for poll(2), rounded up so that it does not end too early. */
static int whole_ms(const struct timespec *limit)
{
	if (!limit)
		return -1;
	if (limit->tv_sec >= INT_MAX / 1000 - 1)
		return INT_MAX;
	return (int)(limit->tv_sec * 1000 + (limit->tv_nsec + 999999) / 1000000);
}

fib_noinline int fib_os_poll(struct pollfd *fds, nfds_t n, int64_t deadline)
{
	struct timespec t, *limit = NULL;
	int rc;

	do {
		if (deadline != INT64_MAX) {
			t = fib_timespec(deadline > 0 ? deadline - fib_os_now() : 0);
			limit = &t;
		}
		rc = ppoll(fds, n, limit, NULL);
		if (rc < 0 && fib_os_is_refusal(-errno))
			rc = poll(fds, n, whole_ms(limit));
	} while (rc < 0 && errno == EINTR);
	return rc < 0 ? -errno : rc;
}
