/* SPDX-License-Identifier: MIT */
/* descriptor.c - new descriptors, which no child of another thread inherits */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "os/bsd/system.h"
#include "os/local.h"

static int result(int fd)
{
	return fd < 0 ? -errno : fd;
}

int fib_bsd_pipe(int fds[2])
{
	return result(pipe2(fds, O_CLOEXEC | O_NONBLOCK));
}

int fib_os_local_socket(void)
{
	return result(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/* accept4(2) inherits no flag of the listener, which accept(2) does. */
int fib_bsd_accept(int fd, struct sockaddr *addr, socklen_t *addrlen, bool nonblocking)
{
	return result(accept4(fd, addr, addrlen, SOCK_CLOEXEC | (nonblocking ? SOCK_NONBLOCK : 0)));
}
