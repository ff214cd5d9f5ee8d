/* SPDX-License-Identifier: MIT */
/*
 * stream.c - the bytes of a connection
 *
 * What differs from a UNIX socket:
 * - The first write after the peer has closed the connection succeeds; the peer's answer to it
 *   resets the connection (see open.c).
 * - After a reset the first write returns ECONNRESET, and EPIPE comes later.
 * - A peer that has called shutdown(SHUT_RD) still takes what is sent. Here it is discarded.
 */
#include "net/stream.h"

#include <errno.h>

#include "net/message.h"
#include "net/real.h"

/* The peer is closed and has got a write: it resets the connection. */
static void reset(struct fib_socket *peer)
{
	char away[4096];

	/* Unread, they would make a read of the other end fail, as it does not with TCP. */
	while (fib_real()->recv(peer->lingering, away, sizeof away, MSG_DONTWAIT) > 0)
		;
	fib_socket_let_go(peer);
}

static ssize_t refused(struct fib_socket *s, int fd, const struct msghdr *m)
{
	const int error = s->write_shut ? 0 : fib_socket_take_error(s, fd);

	if (error)
		return -error;
	if (s->peer && s->peer->read_shut && !s->peer->closed && !s->write_shut)
		return (ssize_t)fib_message_size(m);
	return -EPIPE;
}

ssize_t fib_stream_send(struct fib_socket *s, int fd, const struct msghdr *m, int flags)
{
	const struct msghdr plain = {.msg_iov = m->msg_iov, .msg_iovlen = m->msg_iovlen};
	ssize_t n;

	if (fib_message_has_rights(m))
		return -EINVAL;
	if (!s->connected)
		return -EPIPE;
	if (s->veiled)
		return -EAGAIN;
	if (s->send_room)
		s->error = fib_socket_take_error(s, fd);
	n = fib_real()->sendmsg(fd, &plain, flags | MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return errno == EPIPE ? refused(s, fd, m) : -errno;
	if (s->peer && s->peer->lingering >= 0)
		reset(s->peer);
	return n;
}

ssize_t fib_stream_receive(struct fib_socket *s, int fd, struct msghdr *m, int flags)
{
	struct msghdr plain = {.msg_iov = m->msg_iov, .msg_iovlen = m->msg_iovlen};
	ssize_t n;

	if (!s->connected || s->veiled)
		return s->veiled && fib_socket_take_error(s, fd) ? -ECONNREFUSED
		       : s->veiled				 ? -EAGAIN
								 : -ENOTCONN;
	n = fib_real()->recvmsg(fd, &plain, flags | MSG_DONTWAIT);
	m->msg_namelen = 0;
	m->msg_controllen = 0;
	m->msg_flags = plain.msg_flags;
	return n < 0 ? -errno : n;
}
