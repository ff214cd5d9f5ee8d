/* SPDX-License-Identifier: MIT */
/*
 * message.c - send and receive, with flags and addresses
 *
 * As in stream.c: a try with MSG_DONTWAIT, then the flags of the descriptor, then a call that
 * parks. A call that does not wait by its own flags is the system's. MSG_WAITALL makes no try: the kernel
 * ignores the flag in a call that must not wait.
 */
#include "call/message.h"

#include <errno.h>
#include <sys/socket.h>

#include <fiber/io.h>
#include <fiber/posix.h>

#include "call/park.h"
#include "call/stream.h"
#include "system/system.h"

/* Ask whether to wait after a try has returned n: n is final, or 1 and a deadline. */
static ssize_t after_try(int fd, ssize_t n, int option, int64_t *ret_deadline)
{
	int rc;

	/* -EINPROGRESS: MSG_FASTOPEN has begun to connect, and has sent nothing. */
	if (n != -EAGAIN && n != -EINPROGRESS)
		return n;
	rc = fpx_may_wait(fd, option, ret_deadline);
	return rc < 0 ? rc : rc ? 1 : n;
}

/* Linux does not wait for errors and urgent data, on blocking sockets either. */
bool fpx_never_waits(int flags)
{
	return flags & (MSG_DONTWAIT | MSG_ERRQUEUE | MSG_OOB);
}

static ssize_t receive_all(int fd, void *buf, size_t size, int flags)
{
	int64_t deadline;
	int rc = fpx_may_wait(fd, SO_RCVTIMEO, &deadline);
	ssize_t n;

	if (rc < 0)
		return rc;
	if (rc == 0)
		return fiber_recv(fd, buf, size, flags | MSG_DONTWAIT, 0);
	n = fiber_recv(fd, buf, size, flags, deadline);
	return fpx_late(n, deadline) ? -EAGAIN : n;
}

static ssize_t receive(int fd, void *buf, size_t size, int flags)
{
	int64_t deadline = -1;
	ssize_t n;

	if (flags & MSG_WAITALL)
		return receive_all(fd, buf, size, flags);
	n = fiber_recv(fd, buf, size, flags | MSG_DONTWAIT, 0);
	n = after_try(fd, n, SO_RCVTIMEO, &deadline);
	if (deadline < 0 || n < 0)
		return n;
	n = fiber_recv(fd, buf, size, flags, deadline);
	return fpx_late(n, deadline) ? -EAGAIN : n;
}

ssize_t fiber_posix_recv(int fd, void *buf, size_t size, int flags)
{
	if (fpx_never_waits(flags) || !fpx_parks())
		return fpx_system.recv(fd, buf, size, flags);
	return fpx_result(receive(fd, buf, size, flags));
}

static bool is_stream(int fd)
{
	int type = 0;
	socklen_t size = sizeof type;

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

ssize_t fpx_receive_rest(int fd, const struct msghdr *msg, int flags, ssize_t n)
{
	size_t start = 0, done = (size_t)n, i;
	int64_t deadline;

	if (n <= 0 || !(flags & MSG_WAITALL) || flags & (MSG_PEEK | MSG_TRUNC) ||
	    msg->msg_controllen || !is_stream(fd) || fpx_may_wait(fd, SO_RCVTIMEO, &deadline) != 1)
		return n;
	for (i = 0; i < msg->msg_iovlen; start += msg->msg_iov[i++].iov_len) {
		const struct iovec *v = &msg->msg_iov[i];
		ssize_t more;

		if (done >= start + v->iov_len)
			continue;
		more = fiber_recv(fd, (char *)v->iov_base + (done - start),
				  v->iov_len - (done - start), MSG_WAITALL, deadline);
		if (more > 0)
			done += (size_t)more;
		if (done < start + v->iov_len)
			break;
	}
	return (ssize_t)done;
}

static ssize_t receive_from(int fd, void *buf, size_t size, int flags, struct sockaddr *addr,
			    socklen_t *addrlen)
{
	struct iovec v = {buf, size};
	const struct msghdr whole = {.msg_iov = &v, .msg_iovlen = 1};
	int64_t deadline = -1;
	ssize_t n = fiber_recvfrom(fd, buf, size, flags | MSG_DONTWAIT, addr, addrlen, 0);

	n = after_try(fd, n, SO_RCVTIMEO, &deadline);
	if (deadline >= 0 && n > 0) {
		n = fiber_recvfrom(fd, buf, size, flags, addr, addrlen, deadline);
		n = fpx_late(n, deadline) ? -EAGAIN : n;
	}
	return fpx_receive_rest(fd, &whole, flags, n);
}

ssize_t fiber_posix_recvfrom(int fd, void *buf, size_t size, int flags, struct sockaddr *addr,
			     socklen_t *addrlen)
{
	if (fpx_never_waits(flags) || !fpx_parks())
		return fpx_system.recvfrom(fd, buf, size, flags, addr, addrlen);
	return fpx_result(addr ? receive_from(fd, buf, size, flags, addr, addrlen)
			       : receive(fd, buf, size, flags));
}

ssize_t fpx_receive_message(int fd, struct msghdr *msg, int flags)
{
	int64_t deadline = -1;
	ssize_t n = fiber_recvmsg(fd, msg, flags | MSG_DONTWAIT, 0);

	n = after_try(fd, n, SO_RCVTIMEO, &deadline);
	if (deadline >= 0 && n > 0) {
		n = fiber_recvmsg(fd, msg, flags, deadline);
		n = fpx_late(n, deadline) ? -EAGAIN : n;
	}
	return fpx_receive_rest(fd, msg, flags, n);
}

ssize_t fiber_posix_recvmsg(int fd, struct msghdr *msg, int flags)
{
	if (fpx_never_waits(flags) || !fpx_parks())
		return fpx_system.recvmsg(fd, msg, flags);
	return fpx_result(fpx_receive_message(fd, msg, flags));
}

ssize_t fpx_signalled(ssize_t n, int flags)
{
	return flags & MSG_NOSIGNAL ? n : fpx_broken(n);
}

/* What follows the first part has no address and no control data. */
ssize_t fpx_send_rest(int fd, const struct iovec *v, size_t count, ssize_t n)
{
	int64_t deadline = -1;

	if (n < 0 || (size_t)n >= fpx_pieces_size(v, count))
		return n;
	if (after_try(fd, -EAGAIN, SO_SNDTIMEO, &deadline) != 1)
		return n;
	return fpx_write_rest(fd, v, count, (size_t)n, deadline);
}

static ssize_t send_to(int fd, const void *buf, size_t size, int flags, const struct sockaddr *addr,
		       socklen_t addrlen)
{
	const struct iovec v = {(void *)(uintptr_t)buf, size};
	int64_t deadline = -1;
	ssize_t n = addr ? fiber_sendto(fd, buf, size, flags | MSG_DONTWAIT, addr, addrlen, 0)
			 : fiber_send(fd, buf, size, flags | MSG_DONTWAIT, 0);

	if (n >= 0 && (size_t)n == size)
		return n;
	n = after_try(fd, n, SO_SNDTIMEO, &deadline);
	if (deadline >= 0 && n > 0) {
		n = fiber_sendto(fd, buf, size, flags & ~MSG_FASTOPEN, addr, addrlen, deadline);
		n = fpx_late(n, deadline) ? -EAGAIN : n;
	}
	return fpx_send_rest(fd, &v, 1, n);
}

ssize_t fiber_posix_sendto(int fd, const void *buf, size_t size, int flags,
			   const struct sockaddr *addr, socklen_t addrlen)
{
	if (flags & MSG_DONTWAIT || !fpx_parks())
		return fpx_system.sendto(fd, buf, size, flags, addr, addrlen);
	return fpx_result(fpx_signalled(send_to(fd, buf, size, flags, addr, addrlen), flags));
}

ssize_t fiber_posix_send(int fd, const void *buf, size_t size, int flags)
{
	if (flags & MSG_DONTWAIT || !fpx_parks())
		return fpx_system.send(fd, buf, size, flags);
	return fpx_result(fpx_signalled(send_to(fd, buf, size, flags, NULL, 0), flags));
}

ssize_t fpx_send_message(int fd, const struct msghdr *msg, int flags)
{
	int64_t deadline = -1;
	ssize_t n = fiber_sendmsg(fd, msg, flags | MSG_DONTWAIT, 0);

	n = after_try(fd, n, SO_SNDTIMEO, &deadline);
	if (deadline >= 0 && n > 0) {
		n = fiber_sendmsg(fd, msg, flags & ~MSG_FASTOPEN, deadline);
		n = fpx_late(n, deadline) ? -EAGAIN : n;
	}
	return fpx_send_rest(fd, msg->msg_iov, msg->msg_iovlen, n);
}

ssize_t fiber_posix_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	if (flags & MSG_DONTWAIT || !fpx_parks())
		return fpx_system.sendmsg(fd, msg, flags);
	return fpx_result(fpx_signalled(fpx_send_message(fd, msg, flags), flags));
}
