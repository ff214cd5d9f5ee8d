/* SPDX-License-Identifier: MIT */
/*
 * accept.c - accept without waiting
 *
 * accept(2) has no flag for that. On a blocking listener poll(2) is asked first. This suffices if no
 * other process accepts from it in between.
 */
#include <errno.h>
#include <fcntl.h>

#include "base/compiler.h"
#include "os/bsd/system.h"
#include "os/os.h"

fib_noinline bool fib_os_accept_is_sure(void)
{
	return false;
}

static int try(int fd, struct sockaddr *addr, socklen_t *addrlen)
{
	const int flags = fcntl(fd, F_GETFL);
	int rc = 0;

	if (flags >= 0 && !(flags & O_NONBLOCK))
		rc = fib_os_ready(fd, POLLIN);
	return rc < 0 ? rc : fib_bsd_accept(fd, addr, addrlen, false);
}

fib_noinline int fib_os_accept(int fd, struct sockaddr *addr, socklen_t *addrlen)
{
	int n;

	/* A connection that died in the queue: there may be another. */
	do
		n = try(fd, addr, addrlen);
	while (n == -EINTR || n == -ECONNABORTED);
	return n;
}
