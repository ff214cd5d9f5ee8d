/* SPDX-License-Identifier: MIT */
/* socket.c - making connections. */
#include <errno.h>
#include <poll.h>

#include <fiber/io.h>

#include "io/descriptor.h"
#include "os/os.h"

static int try_accept(int fd, struct sockaddr *addr, socklen_t *addrlen)
{
	int n;

	/* A blocking socket is looked at first and accepted from then: nobody may come between. */
	fib_descriptor_lock(fd);
	n = fib_os_accept(fd, addr, addrlen);
	fib_descriptor_unlock(fd);
	return n;
}

int fiber_accept(int fd, struct sockaddr *addr, socklen_t *addrlen, int64_t deadline)
{
	struct fib_look look;
	int n, rc;

	for (;;) {
		fib_descriptor_look(fd, &look);
		n = try_accept(fd, addr, addrlen);
		if (n != -EAGAIN)
			break;
		rc = fib_descriptor_wait(fd, POLLIN, &look, deadline);
		if (rc < 0)
			return rc;
	}
	if (n >= 0)
		fib_descriptor_fresh(n);
	return n;
}

int fiber_connect(int fd, const struct sockaddr *addr, socklen_t addrlen, int64_t deadline)
{
	int rc;

	fib_descriptor_fresh(fd);
	rc = fib_os_connect(fd, addr, addrlen);
	if (rc == -EAGAIN) {
		/* A Unix socket whose peer's backlog is full: there is nothing to wait on. */
		return rc;
	}
	if (rc != -EINPROGRESS)
		return rc;
	rc = fiber_wait_fd(fd, POLLOUT, deadline);
	return rc < 0 ? rc : fib_os_socket_error(fd);
}
