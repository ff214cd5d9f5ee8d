/* SPDX-License-Identifier: MIT */
/*
 * message.c - send and receive messages, with flags, addresses and descriptors
 *
 * As with bytes: try, wait, try again. Every call to the system has MSG_DONTWAIT and MSG_NOSIGNAL.
 * So two flags of the caller are handled here: with MSG_DONTWAIT the call does not wait, and
 * MSG_WAITALL, which the system ignores in a call that must not wait, is a loop.
 *
 * Two things differ from bytes. A datagram to an address of a Unix socket may find the receiver's
 * queue full. The sending socket is ready for writing all the time, and no edge comes. So if it is
 * ready but refuses, the fiber sleeps 1 ms instead. And descriptors that arrive in a message are
 * new: anything known of their numbers is dropped.
 */
#include "choice.h"
#include "fault.h"
#include "order.h"
#include <errno.h>
#include <poll.h>
#include <string.h>

#include <fiber/io.h>

#include "base/compiler.h"
#include "io/descriptor.h"
#include "os/calls.h"
#include "os/os.h"

#define REST INT64_C(1000000) /* ns */

/* The poll(2) event that announces data for a receive with these flags. */
static short coming(int flags)
{
	if (flags & MSG_ERRQUEUE)
		return POLLERR;
	return flags & MSG_OOB ? POLLPRI : POLLIN;
}

/* Called for each request of a server. Inlined down to the system call, see calls.h. */
static fib_always_inline ssize_t receive_now(int fd, void *buf, size_t size, int flags,
					     struct sockaddr *addr, socklen_t *addrlen)
{
	ssize_t n;

	if (addr)
		return fib_os_recvfrom(fd, buf, size, flags, addr, addrlen);
	do
		n = fib_os_recv_now(fd, buf, size, flags | MSG_DONTWAIT);
	while (n == -EINTR);
	return n;
}

static fib_always_inline ssize_t send_now(int fd, const void *buf, size_t size, int flags,
					  const struct sockaddr *addr, socklen_t addrlen)
{
	ssize_t n;

	if (addr)
		return fib_os_sendto(fd, buf, size, flags, addr, addrlen);
	do
		n = fib_os_send_now(fd, buf, size, flags | MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n == -EINTR);
	return n;
}

/* Receive, and record whether the socket is drained: it gave nothing or less than was asked for. */
static fib_always_inline ssize_t receive_after(int fd, void *buf, size_t size, int flags,
					       struct sockaddr *addr, socklen_t *addrlen,
					       const struct fib_look *look)
{
	ssize_t n = receive_now(fd, buf, size, flags, addr, addrlen);

	if (!(flags & ~MSG_DONTWAIT) && (n == -EAGAIN || (n > 0 && (size_t)n < size)))
		fib_descriptor_gave_less(fd, look);
	return n;
}

/* Data that has arrived but was not announced before the deadline counts as in time. */
static fib_noinline ssize_t receive_late(int fd, void *buf, size_t size)
{
	struct fib_look look;

	fib_descriptor_look_to_read(fd, &look);
	return receive_after(fd, buf, size, 0, NULL, NULL, &look);
}

static fib_always_inline ssize_t receive(int fd, void *buf, size_t size, int flags,
					 struct sockaddr *addr, socklen_t *addrlen,
					 int64_t deadline)
{
	const bool plain = !flags && !addr && size;
	const ssize_t fault = fib_fault_transfer(fd, &size, false);
	struct fib_look look;

	if (fault < 0)
		return fault;
	for (;;) {
		ssize_t n = -EAGAIN;
		int rc;

		if (plain && fib_descriptor_receive_drained(fd, buf, size, deadline, &n, &rc)) {
			if (fib_unlikely(n == -EAGAIN && rc == -ETIMEDOUT))
				n = receive_late(fd, buf, size);
			fib_order_bytes_in(fd, n);
			if (fib_likely(n != -EAGAIN) || rc < 0)
				return n != -EAGAIN ? n : rc;
			continue;
		}
		fib_descriptor_look_to_read(fd, &look);
		if (!look.drained || !plain)
			n = receive_after(fd, buf, size, flags, addr, addrlen, &look);
		fib_order_bytes_in(fd, n);
		if (n != -EAGAIN || flags & MSG_DONTWAIT)
			return n;
		rc = plain ? fib_descriptor_receive(fd, buf, size, &look, deadline, &n)
			   : fib_descriptor_wait(fd, coming(flags), &look, deadline);
		/* Data that has arrived but was not announced yet counts as in time. */
		if (rc == -ETIMEDOUT && look.drained && n == -EAGAIN)
			n = receive_after(fd, buf, size, flags, addr, addrlen, &look);
		fib_order_bytes_in(fd, n);
		if (n != -EAGAIN || rc < 0)
			return n != -EAGAIN ? n : rc;
	}
}

/* MSG_WAITALL. */
static ssize_t receive_all(int fd, void *buf, size_t size, int flags, int64_t deadline)
{
	size_t done = 0;
	ssize_t n;

	do {
		n = receive(fd, (char *)buf + done, size - done, flags, NULL, NULL, deadline);
		if (n > 0)
			done += (size_t)n;
	} while (n > 0 && done < size);
	return done ? (ssize_t)done : n;
}

ssize_t fiber_recv(int fd, void *buf, size_t size, int flags, int64_t deadline)
{
	const int other = MSG_DONTWAIT | MSG_PEEK | MSG_OOB | MSG_TRUNC | MSG_ERRQUEUE;

	fib_choice_fd(fd);
	if (flags & MSG_WAITALL && !(flags & other) && fib_os_is_stream(fd))
		return receive_all(fd, buf, size, flags, deadline);
	return receive(fd, buf, size, flags, NULL, NULL, deadline);
}

ssize_t fiber_recvfrom(int fd, void *buf, size_t size, int flags, struct sockaddr *addr,
		       socklen_t *addrlen, int64_t deadline)
{
	fib_choice_fd(fd);
	return receive(fd, buf, size, flags, addr, addrlen, deadline);
}

/* Wait for room to send, perhaps to an address. */
static int wait_for_room(int fd, const struct sockaddr *addr, const struct fib_look *look,
			 int64_t deadline)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	if (addr && addr->sa_family == AF_UNIX && fib_os_poll(&p, 1, 0) == 1 && p.revents & POLLOUT)
		return fib_descriptor_rest(fd, look, REST, deadline);
	return fib_descriptor_wait(fd, POLLOUT, look, deadline);
}

/* Inlined, as receive(), so that a backtrace shows which public call was made. */
static fib_always_inline ssize_t send_to(int fd, const void *buf, size_t size, int flags,
					 const struct sockaddr *addr, socklen_t addrlen,
					 int64_t deadline)
{
	ssize_t n = fib_fault_transfer(fd, &size, true);
	struct fib_look look;
	int rc;

	if (n < 0)
		return n;
	fib_order_bytes_out(fd);
	n = send_now(fd, buf, size, flags, addr, addrlen);
	/* Most sends succeed at once: the first try needs no look. */
	while (fib_unlikely(n == -EAGAIN && !(flags & MSG_DONTWAIT))) {
		fib_descriptor_look(fd, &look);
		n = send_now(fd, buf, size, flags, addr, addrlen);
		if (n != -EAGAIN)
			break;
		rc = wait_for_room(fd, addr, &look, deadline);
		if (rc < 0)
			return rc;
	}
	return n;
}

ssize_t fiber_sendto(int fd, const void *buf, size_t size, int flags, const struct sockaddr *addr,
		     socklen_t addrlen, int64_t deadline)
{
	fib_choice_fd(fd);
	return send_to(fd, buf, size, flags, addr, addrlen, deadline);
}

ssize_t fiber_send(int fd, const void *buf, size_t size, int flags, int64_t deadline)
{
	fib_choice_fd(fd);
	return send_to(fd, buf, size, flags, NULL, 0, deadline);
}

/* Mark the descriptors in a received message as new. */
static void meet_descriptors(struct msghdr *msg)
{
	struct cmsghdr *c;
	size_t at;
	int fd;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (at = CMSG_LEN(0); at + sizeof fd <= c->cmsg_len; at += sizeof fd) {
			memcpy(&fd, (char *)c + at, sizeof fd);
			fib_descriptor_opened(fd);
		}
	}
}

ssize_t fiber_recvmsg(int fd, struct msghdr *msg, int flags, int64_t deadline)
{
	struct fib_look look;
	struct fib_part part;
	ssize_t fault;

	fib_choice_fd(fd);
	fault = fib_fault_message(fd, msg, flags, &part, false);
	if (fault < 0)
		return fault;
	for (;;) {
		ssize_t n;
		int rc;

		fib_descriptor_look(fd, &look);
		n = fib_os_recvmsg(fd, fib_part_of(&part, msg), flags);
		fib_part_received(&part, msg);
		fib_order_bytes_in(fd, n);
		if (n >= 0 && msg->msg_controllen)
			meet_descriptors(msg);
		if (n != -EAGAIN || flags & MSG_DONTWAIT)
			return n;
		rc = fib_descriptor_wait(fd, coming(flags), &look, deadline);
		if (rc < 0)
			return rc;
	}
}

ssize_t fiber_sendmsg(int fd, const struct msghdr *msg, int flags, int64_t deadline)
{
	struct fib_look look;
	struct fib_part part;
	ssize_t fault;

	fib_choice_fd(fd);
	fault = fib_fault_message(fd, msg, flags, &part, true);
	if (fault < 0)
		return fault;
	fib_order_bytes_out(fd);
	for (;;) {
		ssize_t n;
		int rc;

		fib_descriptor_look(fd, &look);
		n = fib_os_sendmsg(fd, fib_part_of(&part, msg), flags);
		if (n != -EAGAIN || flags & MSG_DONTWAIT)
			return n;
		rc = wait_for_room(fd, msg->msg_namelen ? msg->msg_name : NULL, &look, deadline);
		if (rc < 0)
			return rc;
	}
}
