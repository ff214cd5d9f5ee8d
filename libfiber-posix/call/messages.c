/* SPDX-License-Identifier: MIT */
/*
 * messages.c - receive and send many messages in one call
 *
 * All messages that are ready are moved by one system call, with MSG_DONTWAIT. Where it stops
 * because the next one would wait, the fiber parks, and then the system is called for the rest. The kernel
 * does the same, message by message: each has a time-out of its own (SO_RCVTIMEO, SO_SNDTIMEO).
 *
 * After some messages an error is not returned. The kernel keeps it for the next call, on the
 * socket. So the fiber waits for the second message with poll(2), which takes no error away.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>

#include <fiber/io.h>
#include <fiber/posix.h>
#include <fiber/time.h>

#include "call/message.h"
#include "call/park.h"
#include "call/ready.h"
#include "call/stream.h"
#include "system/system.h"

#define NS_PER_S INT64_C(1000000000)

/* What is left until the deadline, and not less than nothing. */
static struct timespec left_until(int64_t deadline)
{
	int64_t ns = deadline - fiber_now();

	ns = ns < 0 ? 0 : ns;
	return (struct timespec){ns / NS_PER_S, ns % NS_PER_S};
}

/* A call of recvmmsg(2). */
struct receiving {
	int fd, flags;
	struct mmsghdr *v;
	unsigned count, done;
	struct timespec *timeout; /* NULL: none */
	int64_t end;		  /* of the timeout */
};

/* Whether the kernel would not look for a further message. */
static bool is_enough(struct receiving *r)
{
	if (r->timeout && r->end != FIBER_FOREVER)
		*r->timeout = left_until(r->end);
	return r->done == r->count || r->flags & MSG_WAITFORONE || fpx_time_zero(r->timeout) ||
	       r->v[r->done - 1].msg_hdr.msg_flags & MSG_OOB;
}

/* Take what is there. Returns the number of messages, or a negative errno. */
static int take(struct receiving *r)
{
	struct mmsghdr *const v = r->v + r->done;
	struct timespec left = r->timeout ? *r->timeout : (struct timespec){0, 0};
	int n = fpx_system.recvmmsg(r->fd, v, r->count - r->done, r->flags | MSG_DONTWAIT,
				    r->timeout ? &left : NULL);

	if (n < 0)
		return -errno;
	if (n > 0)
		v[n - 1].msg_len = (unsigned)fpx_receive_rest(r->fd, &v[n - 1].msg_hdr, r->flags,
							      v[n - 1].msg_len);
	return n;
}

/* Park until the first message has come, and take it. Returns 1, or a negative errno. */
static int await_first(struct receiving *r)
{
	const ssize_t n = fpx_receive_message(r->fd, &r->v->msg_hdr, r->flags);

	if (n < 0)
		return (int)n;
	r->v->msg_len = (unsigned)n;
	return 1;
}

/* Park until a further message has come. Returns false if the call ends with those that it has. */
static bool await_next(const struct receiving *r)
{
	int64_t deadline;
	int rc = fpx_may_wait(r->fd, SO_RCVTIMEO, &deadline);

	if (rc <= 0)
		return false;
	rc = fiber_wait_fd(r->fd, POLLIN, deadline);
	return rc > 0 && !(rc & POLLERR);
}

static int receive_messages(struct receiving *r)
{
	int n = take(r);

	if (n == -EAGAIN)
		n = await_first(r);
	if (n <= 0)
		return n;
	while (n > 0) {
		r->done += (unsigned)n;
		if (is_enough(r))
			break;
		do {
			n = await_next(r) ? take(r) : 0;
		} while (n == -EAGAIN);
	}
	return (int)r->done;
}

int fiber_posix_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags,
			 struct timespec *timeout)
{
	struct receiving r = {fd, flags, messages, count, 0, timeout, FIBER_FOREVER};

	if (!count || count > INT_MAX || !fpx_time_valid(timeout) || fpx_never_waits(flags) ||
	    !fpx_parks())
		return fpx_system.recvmmsg(fd, messages, count, flags, timeout);
	r.end = fpx_deadline_after(timeout);
	return (int)fpx_result(receive_messages(&r));
}

/* Send what can be sent. Returns the number of messages, or a negative errno. */
static int give(int fd, struct mmsghdr *v, unsigned count, int flags)
{
	int n;

	/* It may begin to connect, which the call for one message knows. */
	if (flags & MSG_FASTOPEN)
		return -EAGAIN;
	n = fpx_system.sendmmsg(fd, v, count, flags | MSG_DONTWAIT | MSG_NOSIGNAL);
	return n < 0 ? -errno : n;
}

/*
 * Send at least one message, parking if it must, and count in *done. Returns 1; 0 if the last one was
 * sent in part, which ends the call; or a negative errno.
 */
static int send_some(int fd, struct mmsghdr *v, unsigned count, int flags, unsigned *done)
{
	int n = give(fd, v, count, flags);
	const struct msghdr *last;
	ssize_t size;

	if (n < 0 && n != -EAGAIN && n != -EINPROGRESS)
		return n;
	if (n > 0)
		v += n - 1;
	last = &v->msg_hdr;
	size = n > 0 ? fpx_send_rest(fd, last->msg_iov, last->msg_iovlen, v->msg_len)
		     : fpx_send_message(fd, last, flags);
	if (size < 0)
		return (int)size;
	v->msg_len = (unsigned)size;
	*done += n > 0 ? (unsigned)n : 1;
	return (size_t)size == fpx_pieces_size(last->msg_iov, last->msg_iovlen);
}

static int send_messages(int fd, struct mmsghdr *v, unsigned count, int flags)
{
	unsigned done = 0;
	int rc = 1;

	while (rc > 0 && done < count) {
		rc = send_some(fd, v + done, count - done, flags, &done);
		flags &= ~MSG_FASTOPEN;
	}
	fpx_signalled(rc, flags);
	return done ? (int)done : rc;
}

int fiber_posix_sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
	if (!count || flags & MSG_DONTWAIT || !fpx_parks())
		return fpx_system.sendmmsg(fd, messages, count, flags);
	return (int)fpx_result(
		send_messages(fd, messages, count < IOV_MAX ? count : IOV_MAX, flags));
}
