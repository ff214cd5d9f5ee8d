/* SPDX-License-Identifier: MIT */
/*
 * io.c - send without blocking, even on blocking sockets, and poll(2)
 *
 * Each call has a flag (MSG_DONTWAIT). For accept see accept.c, for other calls on sockets
 * posix/sockets.c, for files file.c.
 */
#include "os/os.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <sys/stat.h>

#include "base/compiler.h"
#include "os/timespec.h"

static ssize_t result(ssize_t n)
{
	return n < 0 ? -errno : n;
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

fib_noinline ssize_t fib_os_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	ssize_t n;

	do
		n = sendmsg(fd, msg, flags | MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return result(n);
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
