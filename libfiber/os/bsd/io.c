/* SPDX-License-Identifier: MIT */
/*
 * io.c - sockets that never block, even blocking ones, and poll(2)
 *
 * Receiving has a flag per call (MSG_DONTWAIT). Sending ignores this flag where there is no room, so each
 * system has a way of its own (system.h). connect(2) has no flag: a blocking socket is made non-blocking
 * for the call and restored. For accept see accept.c, for files see file.c.
 */
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/bsd/system.h"

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
	struct iovec v = {(void *)(uintptr_t)buf, size};
	const struct msghdr m = {.msg_name = (void *)(uintptr_t)addr,
				 .msg_namelen = addr ? addrlen : 0,
				 .msg_iov = &v,
				 .msg_iovlen = 1};

	return fib_os_sendmsg(fd, &m, flags);
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
		n = fib_bsd_sendmsg(fd, msg, flags);
	while (n == -EINTR);
	return n;
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

/* Other protocols do not know this option. macOS has none that tells the protocol. */
fib_noinline bool fib_os_is_tcp(int fd)
{
	int without_delay = 0;
	socklen_t size = sizeof without_delay;

	return getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &without_delay, &size) == 0;
}

fib_noinline bool fib_os_poll_is_exact(int fd)
{
	struct sockaddr_storage name = {.ss_family = AF_UNSPEC};
	socklen_t size = sizeof name;
	struct stat st;

	if (getsockname(fd, (struct sockaddr *)&name, &size) == 0)
		return name.ss_family == AF_UNIX;
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
static int ms_until(int64_t deadline)
{
	int64_t left;

	if (deadline == INT64_MAX)
		return -1;
	left = deadline > 0 ? deadline - fib_os_now() : 0;
	if (left <= 0)
		return 0;
	left = left / 1000000 + (left % 1000000 != 0);
	return left < INT_MAX ? (int)left : INT_MAX;
}

/* With the precision of poll(2), a millisecond: macOS has no ppoll(2). */
fib_noinline int fib_os_poll(struct pollfd *fds, nfds_t n, int64_t deadline)
{
	int rc;

	do
		rc = poll(fds, n, ms_until(deadline));
	while (rc < 0 && errno == EINTR);
	return rc < 0 ? -errno : rc;
}
