/* SPDX-License-Identifier: MIT */
/*
 * socket.c - making connections
 *
 * A process, or the system, runs out of descriptors, and somebody waits to be accepted: an edge has come, none will
 * follow, and to try again at once would be to spin until some connection ends. The rule: who accepts rests for a moment
 * and tries again, until the deadline. The others wait in the listener's queue meanwhile, where the system
 * keeps them. So a server that has too many connections serves those it has, and needs to do nothing about it.
 */
#include <errno.h>
#include <poll.h>

#include <fiber/io.h>

#include "io/descriptor.h"
#include "io/table.h"
#include "os/os.h"

#define REST INT64_C(10000000) /* ns */

static int try_accept(int fd, struct sockaddr *addr, socklen_t *addrlen)
{
	int n;

	/* A blocking socket is looked at first and accepted from then: nobody may come between. */
	fib_descriptor_lock(fd);
	n = fib_os_accept(fd, addr, addrlen);
	fib_descriptor_unlock(fd);
	return n;
}

/* There is nothing to accept with. */
static bool is_short(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOBUFS || error == -ENOMEM;
}

/* What try_accept said, when there may be nobody to accept: Linux wants a descriptor first. */
static int shortage(int fd, int error)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return fib_os_poll(&p, 1, 0) == 0 ? -EAGAIN : error;
}

/* Wait for what was missing. */
static int wait_for_connection(int fd, const struct fib_look *look, int error, int64_t deadline)
{
	int rc;

	if (error == -EAGAIN)
		return fib_descriptor_wait(fd, POLLIN, look, deadline);
	rc = fib_descriptor_rest(fd, look, REST, deadline);
	return rc == -ETIMEDOUT ? error : rc;
}

int fiber_accept(int fd, struct sockaddr *addr, socklen_t *addrlen, int64_t deadline)
{
	struct fib_look look;
	int n, rc;

	for (;;) {
		fib_descriptor_look(fd, &look);
		n = try_accept(fd, addr, addrlen);
		if (is_short(n))
			n = shortage(fd, n);
		if (n != -EAGAIN && !is_short(n))
			break;
		rc = wait_for_connection(fd, &look, n, deadline);
		if (rc < 0)
			return rc;
	}
	if (n >= 0)
		fib_descriptor_opened(n);
	return n;
}

int fiber_connect(int fd, const struct sockaddr *addr, socklen_t addrlen, int64_t deadline)
{
	int rc;

	fib_descriptor_opened(fd);
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
