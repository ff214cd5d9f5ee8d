/* SPDX-License-Identifier: MIT */
/*
 * descriptor.c - new descriptors
 *
 * No call makes a descriptor with close-on-exec set. A child that another thread forks and that executes a
 * program before fcntl(2) sets it inherits the descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "os/bsd/system.h"
#include "os/local.h"

/* Set both flags; if that fails, close it. Returns the descriptor, or a negative errno. */
static int prepare(int fd, bool nonblocking)
{
	const int status = fd < 0 ? -1 : fcntl(fd, F_GETFL);
	int rc;

	if (fd < 0)
		return -errno;
	if (status >= 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 &&
	    fcntl(fd, F_SETFL, nonblocking ? status | O_NONBLOCK : status & ~O_NONBLOCK) == 0)
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

int fib_bsd_pipe(int fds[2])
{
	int ends[2], from, to;

	if (pipe(ends) < 0)
		return -errno;
	from = prepare(ends[0], true);
	to = prepare(ends[1], true);
	if (from >= 0 && to >= 0) {
		fds[0] = from;
		fds[1] = to;
		return 0;
	}
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return from < 0 ? from : to;
}

int fib_os_local_socket(void)
{
	return prepare(socket(AF_UNIX, SOCK_STREAM, 0), true);
}

/* The new descriptor has O_NONBLOCK if the listener has it. */
int fib_bsd_accept(int fd, struct sockaddr *addr, socklen_t *addrlen, bool nonblocking)
{
	return prepare(accept(fd, addr, addrlen), nonblocking);
}
