/* SPDX-License-Identifier: MIT */
/*
 * transfer.c - send and receive; in place of libc's functions
 *
 * A blocking call that cannot go on lets other fibers run (wait.h). On other descriptors than
 * internet sockets the call is the system's, and a fiber that would block in it waits before it.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "net/datagram.h"
#include "net/inside.h"
#include "net/linked.h"
#include "net/message.h"
#include "net/own.h"
#include "net/real.h"
#include "net/sockets.h"
#include "net/stream.h"
#include "net/wait.h"

const char fib_net_transfer;

#define PIECES 16u

static ssize_t result(ssize_t n)
{
	if (n >= 0)
		return n;
	errno = (int)-n;
	return -1;
}

/*
 * -- sending --
 *
 * call: of the program; NULL: of libfiber, which sends by the names of own.h. A call of libfiber is
 * part of a public call, which is what fails.
 */

static ssize_t send_some(struct fib_socket *s, int fd, const struct msghdr *m, int flags,
			 const struct fib_call *call)
{
	return s->stream ? fib_stream_send(s, fd, m, flags)
			 : fib_datagram_send(s, fd, m, flags, call);
}

/* A stream takes all bytes, unless the descriptor does not block and there is no room. */
static ssize_t send_stream(struct fib_socket *s, int fd, const struct msghdr *m, int flags)
{
	const size_t size = fib_message_size(m);
	const int64_t deadline = fib_net_deadline(s->send_timeout);
	struct iovec pieces[PIECES];
	struct msghdr rest = *m;
	size_t done = 0;
	ssize_t n;

	do {
		rest.msg_iov = pieces;
		rest.msg_iovlen = fib_message_rest(m, done, pieces, PIECES);
		n = send_some(s, fd, &rest, flags, NULL);
		if (n > 0)
			done += (size_t)n;
		if (n == -EAGAIN && fib_net_waits(fd, flags))
			n = fib_net_wait(fd, POLLOUT, deadline);
	} while (n >= 0 && done < size);
	return done ? (ssize_t)done : n;
}

static ssize_t send_inside(struct fib_socket *s, int fd, const struct msghdr *m, int flags,
			   const struct fib_call *call)
{
	ssize_t n;

	if (!s->stream)
		return result(fib_datagram_send(s, fd, m, flags, call));
	n = send_stream(s, fd, m, flags);
	if (n == -EPIPE && !(flags & MSG_NOSIGNAL))
		raise(SIGPIPE);
	return result(n);
}

static ssize_t send_message(const struct fib_call *call, int fd, const struct msghdr *m, int flags)
{
	struct fib_socket *s = fib_socket_of(fd);

	if (s)
		return send_inside(s, fd, m, flags, call);
	if (fib_message_has_rights(m))
		fib_inside_opened_up();
	fib_net_wait_before(fd, POLLOUT, flags);
	return fib_real()->sendmsg(fd, m, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	return send_message(FIB_CALL_HERE, fd, m, flags);
}

ssize_t fib_own_sendmsg(int fd, const struct msghdr *m, int flags)
{
	return send_message(NULL, fd, m, flags);
}

static ssize_t send_to(const struct fib_call *call, int fd, const void *buf, size_t size, int flags,
		       const struct sockaddr *to, socklen_t length)
{
	struct iovec v = {(void *)(uintptr_t)buf, size};
	const struct msghdr m = {.msg_name = (void *)(uintptr_t)to,
				 .msg_namelen = length,
				 .msg_iov = &v,
				 .msg_iovlen = 1};
	struct fib_socket *s = fib_socket_of(fd);

	if (s)
		return send_inside(s, fd, &m, flags, call);
	fib_net_wait_before(fd, POLLOUT, flags);
	return fib_real()->sendto(fd, buf, size, flags, to, length);
}

ssize_t sendto(int fd, const void *buf, size_t size, int flags, const struct sockaddr *to,
	       socklen_t length)
{
	return send_to(FIB_CALL_HERE, fd, buf, size, flags, to, length);
}

ssize_t fib_own_sendto(int fd, const void *buf, size_t size, int flags, const struct sockaddr *to,
		       socklen_t length)
{
	return send_to(NULL, fd, buf, size, flags, to, length);
}

ssize_t send(int fd, const void *buf, size_t size, int flags)
{
	return send_to(FIB_CALL_HERE, fd, buf, size, flags, NULL, 0);
}

ssize_t fib_own_send(int fd, const void *buf, size_t size, int flags)
{
	return send_to(NULL, fd, buf, size, flags, NULL, 0);
}

ssize_t write(int fd, const void *buf, size_t size)
{
	struct iovec v = {(void *)(uintptr_t)buf, size};
	const struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	struct fib_socket *s = fib_socket_of(fd);

	if (s)
		return send_inside(s, fd, &m, 0, FIB_CALL_HERE);
	fib_net_wait_before(fd, POLLOUT, 0);
	return fib_real()->write(fd, buf, size);
}

ssize_t writev(int fd, const struct iovec *v, int count)
{
	const struct msghdr m = {.msg_iov = (struct iovec *)(uintptr_t)v,
				 .msg_iovlen = count > 0 ? (size_t)count : 0};
	struct fib_socket *s = fib_socket_of(fd);

	if (s)
		return count < 0 || count > IOV_MAX ? result(-EINVAL)
						    : send_inside(s, fd, &m, 0, FIB_CALL_HERE);
	fib_net_wait_before(fd, POLLOUT, 0);
	return fib_real()->writev(fd, v, count);
}

int sendmmsg(int fd, struct mmsghdr *all, unsigned count, int flags)
{
	struct fib_socket *s = fib_socket_of(fd);
	unsigned i;
	ssize_t n;

	if (!s)
		return fib_real()->sendmmsg(fd, all, count, flags);
	for (i = 0; i < count; i++) {
		n = send_inside(s, fd, &all[i].msg_hdr, flags, FIB_CALL_HERE);
		if (n < 0)
			return i ? (int)i : -1;
		all[i].msg_len = (unsigned)n;
	}
	return (int)count;
}

/* -- receiving -- */

static ssize_t receive_some(struct fib_socket *s, int fd, struct msghdr *m, int flags)
{
	return s->stream ? fib_stream_receive(s, fd, m, flags)
			 : fib_datagram_receive(s, fd, m, flags);
}

/* The rest of what MSG_WAITALL asks for; n bytes are there. */
static ssize_t receive_rest(struct fib_socket *s, int fd, const struct msghdr *m, int flags,
			    ssize_t n, int64_t deadline)
{
	const size_t size = fib_message_size(m);
	struct iovec pieces[PIECES];
	struct msghdr rest = *m;
	ssize_t more = 1;

	while (more > 0 && (size_t)n < size) {
		rest.msg_iov = pieces;
		rest.msg_iovlen = fib_message_rest(m, (size_t)n, pieces, PIECES);
		more = receive_some(s, fd, &rest, flags);
		if (more == -EAGAIN && fib_net_wait(fd, POLLIN, deadline) == 0)
			more = 1;
		else if (more > 0)
			n += more;
	}
	return n;
}

static ssize_t receive_inside(struct fib_socket *s, int fd, struct msghdr *m, int flags)
{
	const int64_t deadline = fib_net_deadline(s->receive_timeout);
	ssize_t n;

	do
		n = receive_some(s, fd, m, flags);
	while (n == -EAGAIN && fib_net_waits(fd, flags) && fib_net_wait(fd, POLLIN, deadline) == 0);
	if (n > 0 && s->stream && flags & MSG_WAITALL && !(flags & (MSG_PEEK | MSG_OOB)) &&
	    fib_net_waits(fd, flags))
		n = receive_rest(s, fd, m, flags, n, deadline);
	return result(n);
}

ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	struct fib_socket *s = fib_socket_of(fd);

	if (s)
		return receive_inside(s, fd, m, flags);
	fib_net_wait_before(fd, POLLIN, flags);
	return fib_real()->recvmsg(fd, m, flags);
}

ssize_t recvfrom(int fd, void *buf, size_t size, int flags, struct sockaddr *from,
		 socklen_t *length)
{
	struct iovec v = {buf, size};
	struct msghdr m = {.msg_name = from,
			   .msg_namelen = from && length ? *length : 0,
			   .msg_iov = &v,
			   .msg_iovlen = 1};
	struct fib_socket *s = fib_socket_of(fd);
	ssize_t n;

	if (!s) {
		fib_net_wait_before(fd, POLLIN, flags);
		return fib_real()->recvfrom(fd, buf, size, flags, from, length);
	}
	n = receive_inside(s, fd, &m, flags);
	if (n >= 0 && length && from)
		*length = m.msg_namelen;
	return n;
}

ssize_t recv(int fd, void *buf, size_t size, int flags)
{
	struct iovec v = {buf, size};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	struct fib_socket *s = fib_socket_of(fd);

	if (s)
		return receive_inside(s, fd, &m, flags);
	fib_net_wait_before(fd, POLLIN, flags);
	return fib_real()->recv(fd, buf, size, flags);
}

/* Unlike recv(2), the system's read(2) and readv(2) of no bytes take no datagram and wait for none. */
ssize_t read(int fd, void *buf, size_t size)
{
	struct iovec v = {buf, size};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	struct fib_socket *s = fib_socket_of(fd);

	if (s)
		return size ? receive_inside(s, fd, &m, 0) : 0;
	if (size)
		fib_net_wait_before(fd, POLLIN, 0);
	return fib_real()->read(fd, buf, size);
}

ssize_t readv(int fd, const struct iovec *v, int count)
{
	struct msghdr m = {.msg_iov = (struct iovec *)(uintptr_t)v,
			   .msg_iovlen = count > 0 ? (size_t)count : 0};
	struct fib_socket *s = fib_socket_of(fd);

	if (count < 0 || count > IOV_MAX)
		return s ? result(-EINVAL) : fib_real()->readv(fd, v, count);
	if (s)
		return fib_message_size(&m) ? receive_inside(s, fd, &m, 0) : 0;
	if (fib_message_size(&m))
		fib_net_wait_before(fd, POLLIN, 0);
	return fib_real()->readv(fd, v, count);
}

int recvmmsg(int fd, struct mmsghdr *all, unsigned count, int flags, struct timespec *timeout)
{
	struct fib_socket *s = fib_socket_of(fd);
	unsigned i;
	ssize_t n;

	if (!s)
		return fib_real()->recvmmsg(fd, all, count, flags, timeout);
	for (i = 0; i < count; i++) {
		n = receive_inside(s, fd, &all[i].msg_hdr, flags & ~MSG_WAITFORONE);
		if (n < 0)
			return i ? (int)i : -1;
		all[i].msg_len = (unsigned)n;
		if (flags & MSG_WAITFORONE)
			flags |= MSG_DONTWAIT;
	}
	return (int)count;
}
