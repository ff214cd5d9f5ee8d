/* SPDX-License-Identifier: MIT */
/*
 * socket.c - accept and connect
 *
 * fiber_accept() gives close-on-exec descriptors, and waits for a descriptor where none is free.
 * accept(2) does neither. So only its try is used, and the wait is for the listener.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <fiber/io.h>
#include <fiber/posix.h>
#include <fiber/time.h>

#include "call/descriptor.h"
#include "call/park.h"
#include "call/hints.h"
#include "system/system.h"

#define REST INT64_C(1000000) /* ns */

/* Returns a close-on-exec descriptor, or a negative errno. */
static int accept_one(int fd, struct sockaddr *addr, socklen_t *addrlen)
{
	int64_t deadline = -1;

	for (;;) {
		int n = fiber_accept(fd, addr, addrlen, 0), rc;

		if (n != -ETIMEDOUT && n != -ECANCELED)
			return n;
		rc = deadline < 0 ? fpx_may_wait(fd, SO_RCVTIMEO, &deadline) : 1;
		if (rc <= 0)
			return rc < 0 ? rc : -EAGAIN;
		rc = fiber_wait_fd(fd, POLLIN, deadline);
		if (rc < 0)
			return fpx_late(rc, deadline) ? -EAGAIN : rc;
		/* A connection waits, but there is no descriptor for it: trying would not end. */
		if (n == -ECANCELED)
			return n;
	}
}

int fiber_posix_accept4(int fd, struct sockaddr *addr, socklen_t *addrlen, int flags)
{
	int n;

	if (flags & ~(SOCK_CLOEXEC | SOCK_NONBLOCK) || !fpx_parks())
		return fpx_system.accept4(fd, addr, addrlen, flags);
	n = accept_one(fd, addr, addrlen);
	if (n >= 0) {
		fpx_forget_hints(n);
		fpx_doubt(n);
		if (!(flags & SOCK_CLOEXEC))
			fpx_system.fcntl(n, F_SETFD, 0);
		if (flags & SOCK_NONBLOCK)
			fpx_system.fcntl(n, F_SETFL, fpx_system.fcntl(n, F_GETFL) | O_NONBLOCK);
	}
	return (int)fpx_result(n);
}

int fiber_posix_accept(int fd, struct sockaddr *addr, socklen_t *addrlen)
{
	return fpx_parks() ? fiber_posix_accept4(fd, addr, addrlen, 0)
			   : fpx_system.accept(fd, addr, addrlen);
}

/* fiber_connect() takes a connection that is there already for its own. Datagrams never wait. */
static bool never_waits(int fd)
{
	struct sockaddr_storage peer;
	socklen_t size = sizeof peer, type_size = sizeof(int);
	int type = SOCK_DGRAM;

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_size) < 0 ||
	    (type != SOCK_STREAM && type != SOCK_SEQPACKET))
		return true;
	return getpeername(fd, (struct sockaddr *)&peer, &size) == 0;
}

/*
 * The backlog of a UNIX socket's peer may be full. The system does not report when there is room, so
 * the fiber looks again from time to time.
 */
static int connect_until(int fd, const struct sockaddr *addr, socklen_t addrlen, int64_t deadline)
{
	int rc = fiber_connect(fd, addr, addrlen, deadline);

	while (rc == -EAGAIN && addr->sa_family == AF_UNIX && fiber_now() < deadline) {
		rc = fiber_sleep(REST);
		if (rc == 0)
			rc = fiber_connect(fd, addr, addrlen, deadline);
	}
	return rc;
}

/* An attempt was begun before: wait for its end. The second call returns its result. */
static int await_connection(int fd, const struct sockaddr *addr, socklen_t addrlen,
			    int64_t deadline)
{
	int rc = fiber_wait_fd(fd, POLLOUT, deadline);

	if (rc < 0)
		return fpx_late(rc, deadline) ? -EALREADY : rc;
	return fpx_system.connect(fd, addr, addrlen) < 0 ? -errno : 0;
}

int fiber_posix_connect(int fd, const struct sockaddr *addr, socklen_t addrlen)
{
	int64_t deadline;
	int rc;

	if (!fpx_parks() || fpx_may_wait(fd, SO_SNDTIMEO, &deadline) <= 0 || never_waits(fd))
		return fpx_system.connect(fd, addr, addrlen);
	rc = connect_until(fd, addr, addrlen, deadline);
	fpx_doubt(fd);
	if (rc == -EALREADY)
		return (int)fpx_result(await_connection(fd, addr, addrlen, deadline));
	/*
	 * The kernel waits for a second call to take the connection for made. Without it, one that
	 * the program makes by mistake would succeed instead of giving EISCONN. A UNIX socket is
	 * connected at once, and the second call would wait for room in the backlog.
	 */
	if (rc == 0 && addr->sa_family != AF_UNIX)
		(void)fpx_system.connect(fd, addr, addrlen);
	/* The attempt continues, as after connect(2). */
	return (int)fpx_result(fpx_late(rc, deadline) ? -EINPROGRESS : rc);
}
