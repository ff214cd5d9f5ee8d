/* SPDX-License-Identifier: MIT */
/*
 * accept.c - accept without waiting; in place of libfiber/os/linux/accept.c
 *
 * One fiber runs at a time, so a connection that poll(2) finds is still there when it is accepted,
 * and io_uring is not needed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include "net/own.h"
#include "os/os.h"

/* The connection died in the queue, for a reason that accept(2) lists: there may be another. */
static bool died(int error)
{
	return error == ECONNABORTED || error == EPROTO || error == ENETDOWN ||
	       error == ENETUNREACH;
}

bool fib_os_accept_is_sure(void)
{
	return true;
}

int fib_os_accept(int fd, struct sockaddr *addr, socklen_t *addrlen)
{
	int n;

	do {
		const int status = fcntl(fd, F_GETFL);

		n = status >= 0 && !(status & O_NONBLOCK) ? fib_os_ready(fd, POLLIN) : 0;
		if (n == 0) {
			n = fib_own_accept4(fd, addr, addrlen, SOCK_CLOEXEC);
			n = n < 0 ? -errno : n;
		}
	} while (n == -EINTR || (n < 0 && died(-n)));
	return n;
}
