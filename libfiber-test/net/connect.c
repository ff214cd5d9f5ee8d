/* SPDX-License-Identifier: MIT */
/*
 * connect.c - connect and accept; in place of libc's functions
 *
 * A connection is made at once, in the listener's queue. If the queue has more entries than the
 * backlog allows, a TCP connection waits: connect(2) has not ended, and the socket is not ready to
 * write. The kernel's queue is larger, so the connection is made all the same, and veiled: its
 * buffer is filled until it is not ready to write. accept() reads these bytes and lifts the veil.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "explore/faults.h"
#include "net/linked.h"
#include "net/options.h"
#include "net/own.h"
#include "net/ports.h"
#include "net/real.h"
#include "net/sockets.h"
#include "net/wait.h"

const char fib_net_connect;

/* -- veiled connections -- */

static void veil(struct fib_socket *s, int fd)
{
	socklen_t size = sizeof s->send_room;
	const int least = 1;

	fib_real()->getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &s->send_room, &size);
	fib_real()->setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &least, sizeof least);
	while (fib_net_ready(fd, POLLOUT) &&
	       fib_real()->send(fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1)
		s->veiled++;
}

/* fd: the accepted end, s: the other one. */
static void lift(struct fib_socket *s, int fd)
{
	char byte;

	while (s->veiled && fib_real()->recv(fd, &byte, 1, MSG_DONTWAIT) == 1)
		s->veiled--;
	s->veiled = 0;
}

/* -- connect -- */

static int connect_to(struct fib_socket *s, int fd, struct fib_socket *listener,
		      const struct fib_address *to)
{
	struct sockaddr_un name;
	const socklen_t size = fib_socket_name(listener, &name);
	int rc = fib_port_choose_for(s, fd, to), status;

	if (rc < 0)
		return rc;
	/* Never waits: the kernel's queue is longer than the listener's. */
	status = fib_real()->fcntl(fd, F_GETFL);
	if (!(status & O_NONBLOCK))
		fib_real()->fcntl(fd, F_SETFL, status | O_NONBLOCK);
	rc = fib_real()->connect(fd, (struct sockaddr *)&name, size) < 0 ? -errno : 0;
	if (!(status & O_NONBLOCK))
		fib_real()->fcntl(fd, F_SETFL, status);
	if (rc == -EAGAIN)
		return -ETIMEDOUT;
	if (rc < 0)
		return rc;
	s->connected = true;
	s->remote = *to;
	if (listener->queued++ > (unsigned)listener->backlog)
		veil(s, fd);
	return 0;
}

/* Wait until a veiled connection is accepted. */
static int wait_for_accept(struct fib_socket *s, int fd)
{
	if (!fib_net_waits(fd, 0) ||
	    fib_net_wait(fd, POLLOUT, fib_net_deadline(s->send_timeout)) < 0)
		return -EINPROGRESS;
	return -fib_socket_take_error(s, fd);
}

static int connect_stream(const struct fib_call *call, struct fib_socket *s, int fd,
			  struct fib_address *to)
{
	struct fib_socket *listener;
	int rc;

	if (s->veiled)
		return -EALREADY;
	if (s->connected || s->listening)
		return -EISCONN;
	rc = fib_port_reach(s, to);
	if (rc == 0)
		rc = fib_fault_of_connect(call, fib_net_waits(fd, 0));
	if (rc < 0)
		return rc;
	listener = fib_port_find(s, to);
	rc = listener ? connect_to(s, fd, listener, to) : -ECONNREFUSED;
	if (rc < 0 && s->port_chosen) {
		/* The next try has a new port, as the kernel's. */
		s->local = fib_address_none(s->family);
	}
	return rc == 0 && s->veiled ? wait_for_accept(s, fd) : rc;
}

static int connect_datagrams(struct fib_socket *s, int fd, struct fib_address *to)
{
	int rc = fib_port_reach(s, to);

	if (rc == 0)
		rc = fib_port_choose_for(s, fd, to);
	if (rc < 0)
		return rc;
	s->connected = true;
	s->remote = *to;
	return 0;
}

static int connect_inside(const struct fib_call *call, struct fib_socket *s, int fd,
			  const struct sockaddr *at, socklen_t size)
{
	struct fib_address to;
	int rc;

	if (at && size >= sizeof at->sa_family && at->sa_family == AF_UNSPEC) {
		if (s->stream && (s->connected || s->listening))
			return -EAFNOSUPPORT;
		s->connected = false;
		s->remote = fib_address_none(s->family);
		return 0;
	}
	rc = fib_address_read(at, size, s->family, &to);
	if (rc < 0)
		return rc;
	return s->stream ? connect_stream(call, s, fd, &to) : connect_datagrams(s, fd, &to);
}

static int result(int rc)
{
	if (rc >= 0)
		return rc;
	errno = -rc;
	return -1;
}

static int connect_any(const struct fib_call *call, int fd, const struct sockaddr *at,
		       socklen_t size)
{
	struct fib_socket *s = fib_socket_of(fd);

	return s ? result(connect_inside(call, s, fd, at, size))
		 : fib_real()->connect(fd, at, size);
}

int connect(int fd, const struct sockaddr *at, socklen_t size)
{
	return connect_any(FIB_CALL_HERE, fd, at, size);
}

int fib_own_connect(int fd, const struct sockaddr *at, socklen_t size)
{
	return connect_any(NULL, fd, at, size);
}

/* -- accept -- */

static int accept_now(struct fib_socket *listener, int fd, int flags)
{
	struct sockaddr_un name;
	socklen_t size = sizeof name;
	struct fib_socket *client, *s;
	const int n = fib_real()->accept4(fd, (struct sockaddr *)&name, &size, flags);

	if (n < 0)
		return -errno;
	listener->queued -= listener->queued > 0;
	client = fib_socket_named(&name, size);
	s = client ? fib_socket_add(n, listener->family, true) : NULL;
	if (!s) {
		fib_real()->close(n);
		return client ? -ENOMEM : -ECONNABORTED;
	}
	s->connected = s->port_chosen = true;
	s->reuse_address = listener->reuse_address;
	s->reuse_port = listener->reuse_port;
	s->local = client->remote;
	s->remote = client->local;
	s->peer = client;
	client->peer = s;
	lift(client, n);
	fib_options_inherit(s, listener);
	return n;
}

static int accept_inside(struct fib_socket *listener, int fd, struct sockaddr *at, socklen_t *size,
			 int flags)
{
	int n;

	if (!listener->stream)
		return -EOPNOTSUPP;
	for (;;) {
		/* Only one fiber runs: what poll(2) finds is there. */
		n = -EAGAIN;
		if (!listener->listening || fib_net_ready(fd, POLLIN))
			n = accept_now(listener, fd, flags);
		if (n != -EAGAIN || !fib_net_waits(fd, 0))
			break;
		if (fib_net_wait(fd, POLLIN, fib_net_deadline(listener->receive_timeout)) < 0)
			break;
	}
	if (n >= 0)
		fib_address_write(&fib_socket_of(n)->remote, listener->family, at, size);
	return n;
}

static int accept_any(const struct fib_call *call, int fd, struct sockaddr *at, socklen_t *size,
		      int flags)
{
	struct fib_socket *listener = fib_socket_of(fd);
	const int rc = fib_fault_of_call(call, FIB_FAULT_ACCEPT);

	if (rc < 0)
		return result(rc);
	if (listener)
		return result(accept_inside(listener, fd, at, size, flags));
	fib_net_wait_before(fd, POLLIN, 0);
	return fib_real()->accept4(fd, at, size, flags);
}

int accept4(int fd, struct sockaddr *at, socklen_t *size, int flags)
{
	return accept_any(FIB_CALL_HERE, fd, at, size, flags);
}

int fib_own_accept4(int fd, struct sockaddr *at, socklen_t *size, int flags)
{
	return accept_any(NULL, fd, at, size, flags);
}

int accept(int fd, struct sockaddr *at, socklen_t *size)
{
	return accept_any(FIB_CALL_HERE, fd, at, size, 0);
}

int fib_own_accept(int fd, struct sockaddr *at, socklen_t *size)
{
	return accept_any(NULL, fd, at, size, 0);
}
