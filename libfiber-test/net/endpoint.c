/* SPDX-License-Identifier: MIT */
/* endpoint.c - the addresses of a socket, and its end; in place of libc's functions */
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "net/linked.h"
#include "net/ports.h"
#include "net/real.h"
#include "net/sockets.h"

const char fib_net_endpoint;

static int result(int rc)
{
	if (rc == 0)
		return 0;
	errno = -rc;
	return -1;
}

/* 0.0.0.0 may come as AF_UNSPEC. */
static int read_own_address(const struct fib_socket *s, const struct sockaddr *at, socklen_t size,
			    struct fib_address *ret)
{
	struct sockaddr_in v4;
	int rc = fib_address_read(at, size, s->family, ret);

	if (rc != -EAFNOSUPPORT || s->family != AF_INET || size < sizeof v4)
		return rc;
	memcpy(&v4, at, sizeof v4);
	if (v4.sin_family != AF_UNSPEC || v4.sin_addr.s_addr != htonl(INADDR_ANY))
		return rc;
	v4.sin_family = AF_INET;
	return fib_address_read((struct sockaddr *)&v4, sizeof v4, AF_INET, ret);
}

static int bind_inside(struct fib_socket *s, int fd, const struct sockaddr *at, socklen_t size)
{
	struct fib_address a;
	int rc = read_own_address(s, at, size, &a);

	if (rc < 0)
		return rc;
	if (s->local.port || s->connected)
		return -EINVAL;
	if (s->family == AF_INET6 && s->v6_only && fib_address_is_v4(&a))
		return -EINVAL;
	rc = fib_port_bind(s, &a);
	/* Datagrams are sent to its name. */
	return rc == 0 && !s->stream ? fib_socket_make_name(s, fd) : rc;
}

int bind(int fd, const struct sockaddr *at, socklen_t size)
{
	struct fib_socket *s = fib_socket_of(fd);

	return s ? result(bind_inside(s, fd, at, size)) : fib_real()->bind(fd, at, size);
}

static int listen_inside(struct fib_socket *s, int fd, int backlog)
{
	int rc;

	if (!s->stream)
		return -EOPNOTSUPP;
	/* The kernel's socket does not listen again after a shutdown; TCP's would. */
	if (s->connected || s->read_shut)
		return -EINVAL;
	rc = fib_port_choose(s);
	if (rc < 0)
		return rc;
	if (!s->listening && fib_port_is_listened(s))
		return -EADDRINUSE;
	rc = fib_socket_make_name(s, fd);
	/* The queue is limited by connect(); the kernel's would refuse where TCP waits. */
	if (rc == 0 && fib_real()->listen(fd, INT_MAX) < 0)
		rc = -errno;
	s->listening = rc == 0;
	s->backlog = backlog < 0 ? INT_MAX : backlog;
	return rc;
}

int listen(int fd, int backlog)
{
	struct fib_socket *s = fib_socket_of(fd);

	return s ? result(listen_inside(s, fd, backlog)) : fib_real()->listen(fd, backlog);
}

/* Libc declares these arguments as a transparent union, which has the same form as the pointer. */
int getsockname(int fd, struct sockaddr *at, socklen_t *size)
{
	const struct fib_socket *s = fib_socket_of(fd);

	if (!s)
		return fib_real()->getsockname(fd, at, size);
	fib_address_write(&s->local, s->family, at, size);
	return 0;
}

int getpeername(int fd, struct sockaddr *at, socklen_t *size)
{
	const struct fib_socket *s = fib_socket_of(fd);

	if (!s)
		return fib_real()->getpeername(fd, at, size);
	if (!s->connected || s->veiled)
		return result(-ENOTCONN);
	fib_address_write(&s->remote, s->family, at, size);
	return 0;
}

static int shutdown_inside(struct fib_socket *s, int fd, int how)
{
	if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR)
		return -EINVAL;
	if (!s->connected && !s->listening)
		return -ENOTCONN;
	/* A listener stays one if it is only to send no more. */
	if (s->listening && how == SHUT_WR)
		return 0;
	s->read_shut = s->read_shut || how != SHUT_WR;
	s->write_shut = s->write_shut || how != SHUT_RD;
	if (s->listening)
		s->listening = false;
	return fib_real()->shutdown(fd, how) < 0 ? -errno : 0;
}

int shutdown(int fd, int how)
{
	struct fib_socket *s = fib_socket_of(fd);

	return s ? result(shutdown_inside(s, fd, how)) : fib_real()->shutdown(fd, how);
}
