/* SPDX-License-Identifier: MIT */
/*
 * socket.c - accept and connect
 *
 * A process, or the system, may run out of descriptors while a connection waits to be accepted. The
 * edge has come and none will follow, and retrying at once would spin until some connection is
 * closed. The rule: accept waits 10 ms and tries again, until the deadline. Connections stay in the
 * kernel's backlog meanwhile. So a server with too many connections keeps serving the ones it has,
 * without code for this case.
 */
#include "choice.h"
#include "fault.h"
#include "order.h"
#include <errno.h>
#include <poll.h>

#include <fiber/io.h>

#include "io/descriptor.h"
#include "io/table.h"
#include "os/os.h"

#define REST INT64_C(10000000) /* ns */

static int try_accept(int fd, struct sockaddr *addr, socklen_t *addrlen)
{
	int n = fib_fault(ACCEPT);

	if (n < 0)
		return n;
	/* A blocking socket is checked first and then accepted from: the lock keeps others out. */
	fib_descriptor_lock(fd);
	n = fib_os_accept(fd, addr, addrlen);
	fib_descriptor_unlock(fd);
	return n;
}

/* Errors that mean that descriptors or memory are short. */
static bool is_short(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOBUFS || error == -ENOMEM;
}

/*
 * accept failed for a shortage. -EAGAIN if no connection waits: Linux allocates the descriptor
 * before it checks.
 */
static int shortage(int fd, int error)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return fib_os_poll(&p, 1, 0) == 0 ? -EAGAIN : error;
}

/* Wait for a connection, or for the end of the shortage. */
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

	fib_choice_fd(fd);
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
	fib_order_bytes_in(fd, n);
	if (n >= 0)
		fib_descriptor_opened(n);
	return n;
}

int fiber_connect(int fd, const struct sockaddr *addr, socklen_t addrlen, int64_t deadline)
{
	fib_choice_within();
	int rc;

	fib_choice_fd(fd);
	rc = fib_fault(CONNECT);
	if (rc < 0)
		return rc;
	fib_order_bytes_out(fd);
	fib_descriptor_opened(fd);
	rc = fib_os_connect(fd, addr, addrlen);
	if (rc == -EAGAIN) {
		/* The backlog of a Unix socket's peer is full: there is nothing to wait for. */
		return rc;
	}
	if (rc != -EINPROGRESS)
		return rc;
	rc = fiber_wait_fd(fd, POLLOUT, deadline);
	return rc < 0 ? rc : fib_os_socket_error(fd);
}
