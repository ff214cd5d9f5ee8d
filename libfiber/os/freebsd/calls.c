/* SPDX-License-Identifier: MIT */
/*
 * calls.c - send and receive on sockets without waiting
 *
 * Before FreeBSD 13 sending does not look at MSG_DONTWAIT where the socket has no room: it waits, unless
 * the socket is non-blocking. MSG_NBIO has the same effect for one call. Receiving looks at both.
 */
#include "os/calls.h"

#include <errno.h>
#include <sys/socket.h>

#include "os/bsd/system.h"

ssize_t fib_os_recv_now(int fd, void *buf, size_t size, int flags)
{
	ssize_t n = recv(fd, buf, size, flags);

	return n < 0 ? -errno : n;
}

ssize_t fib_os_send_now(int fd, const void *buf, size_t size, int flags)
{
	ssize_t n = send(fd, buf, size, flags | MSG_NBIO);

	return n < 0 ? -errno : n;
}

ssize_t fib_bsd_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	ssize_t n = sendmsg(fd, msg, flags | MSG_DONTWAIT | MSG_NBIO | MSG_NOSIGNAL);

	return n < 0 ? -errno : n;
}
