/* SPDX-License-Identifier: MIT */
/*
 * io.c - send without blocking, even on blocking sockets, and poll(2)
 *
 * Sending ignores MSG_DONTWAIT where there is no room, so each system has a way of its own (system.h). For
 * accept see accept.c, for other calls on sockets posix/sockets.c, for files file.c.
 */
#include "os/os.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/stat.h>

#include "base/compiler.h"
#include "os/bsd/system.h"

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

fib_noinline ssize_t fib_os_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	ssize_t n;

	do
		n = fib_bsd_sendmsg(fd, msg, flags);
	while (n == -EINTR);
	return n;
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
