/* SPDX-License-Identifier: MIT */
/*
 * datagram.c - datagrams
 *
 * A datagram goes to the name of the receiver's UNIX socket, behind a header with the address of its
 * sender. The kernel's queue of a UNIX socket is short (10 by default), and a sender would have to
 * wait; UDP never waits. What does not fit is kept here, in order, and put into the kernel's queue
 * as the receiver takes from it. Beyond QUEUE_MAX bytes datagrams are dropped, as by UDP.
 *
 * A datagram may get lost, or overtake the one before it, if the faults of the schedule say so
 * (explore/faults.c). To overtake one that is in the kernel's queue, the queue is taken out and put
 * back in the new order.
 *
 * A datagram to a port that no socket has makes the next call of a connected sender fail with
 * ECONNREFUSED. A datagram without content wakes those that wait for the socket then.
 */
#include "net/datagram.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "net/message.h"
#include "net/ports.h"
#include "net/real.h"

#define QUEUE_MAX 212992u /* bytes: Linux's default of SO_RCVBUF */
#define V4_MAX	  65507u  /* bytes of a datagram */
#define V6_MAX	  65527u
#define FEW	  8u

enum { DATA, WAKE };

struct header {
	struct fib_address from;
	uint32_t kind;
	uint32_t unused;
};

_Static_assert(sizeof(struct header) == FIB_DATAGRAM_HEADER, "datagram.h");

/* Put it into the kernel's queue of s. fd: any datagram socket. */
static bool put_into_kernel(const struct fib_socket *s, int fd, const void *bytes, size_t size)
{
	struct sockaddr_un name;
	const socklen_t length = fib_socket_name(s, &name);

	return fib_real()->sendto(fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL,
				  (struct sockaddr *)&name, length) >= 0 ||
	       errno != EAGAIN;
}

/* Takes the datagram. */
static void queue(struct fib_socket *s, int fd, struct fib_overflow *datagram)
{
	if (!s->overflow && put_into_kernel(s, fd, datagram->bytes, datagram->size)) {
		free(datagram);
		return;
	}
	if (s->overflow_bytes + datagram->size > QUEUE_MAX) {
		free(datagram);
		return;
	}
	s->overflow_bytes += datagram->size;
	*s->overflow_end = datagram;
	s->overflow_end = &datagram->next;
}

/* fd: of s. */
static void refill(struct fib_socket *s, int fd)
{
	struct fib_overflow *o;

	while ((o = s->overflow) && put_into_kernel(s, fd, o->bytes, o->size)) {
		s->overflow = o->next;
		s->overflow_bytes -= o->size;
		free(o);
	}
	if (!s->overflow)
		s->overflow_end = &s->overflow;
}

static void refuse(struct fib_socket *s, int fd)
{
	const struct header wake = {.kind = WAKE};

	if (!s->connected)
		return;
	s->error = ECONNREFUSED;
	put_into_kernel(s, fd, &wake, sizeof wake);
}

/* -- order -- */

/* The first of the kernel's queue at `at`, a descriptor of the receiver; NULL: it is empty. */
static struct fib_overflow *take_whole(int at)
{
	struct fib_overflow *d;
	const ssize_t size = fib_real()->recv(at, NULL, 0, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);

	if (size < 0)
		return NULL;
	d = malloc(sizeof *d + (size_t)size);
	fib_check(d);
	d->next = NULL;
	d->size = (size_t)size;
	fib_check(fib_real()->recv(at, d->bytes, d->size, MSG_DONTWAIT) == size);
	return d;
}

static bool is_data(const struct fib_overflow *d)
{
	struct header h;

	memcpy(&h, d->bytes, sizeof h);
	return h.kind == DATA;
}

/* Whether a datagram is queued at the socket arg, which another one could overtake. */
static bool is_queued(void *arg)
{
	struct fib_socket *s = arg;
	struct header h;
	const int at = s->overflow || s->shared ? -1 : fib_socket_descriptor(s);

	if (at < 0)
		return s->overflow && !s->shared;
	return fib_real()->recv(at, &h, sizeof h, MSG_PEEK | MSG_DONTWAIT) == sizeof h &&
	       h.kind == DATA;
}

/* Queue the datagram before the last one. fd: of the sender. Takes the datagram. */
static void queue_earlier(struct fib_socket *s, int fd, struct fib_overflow *datagram)
{
	struct fib_overflow *first = NULL, **end = &first, **last = NULL, *d;
	const int at = fib_socket_descriptor(s);

	while (at >= 0 && (d = take_whole(at))) {
		*end = d;
		end = &d->next;
	}
	*end = s->overflow;
	for (end = &first; *end; end = &(*end)->next)
		if (is_data(*end))
			last = end;
	if (!last)
		last = end;
	datagram->next = *last;
	*last = datagram;
	s->overflow = NULL;
	s->overflow_end = &s->overflow;
	s->overflow_bytes = 0;
	while ((d = first)) {
		first = d->next;
		d->next = NULL;
		queue(s, fd, d);
	}
}

/*
 * A datagram arrives, at the moment in which it is sent. All datagrams pass here: this is where one
 * may be lost or overtake another one. fd: of the sender. Takes the datagram.
 */
static void deliver(struct fib_socket *from, int fd, const struct fib_address *to,
		    struct fib_overflow *datagram, const struct fib_call *call)
{
	struct fib_socket *s = fib_port_find(from, to);

	if (!s) {
		free(datagram);
		refuse(from, fd);
		return;
	}
	switch (fib_fault_of_datagram(call, is_queued, s)) {
	case FIB_ARRIVES:
		queue(s, fd, datagram);
		return;
	case FIB_ARRIVES_NEVER:
		free(datagram);
		return;
	case FIB_ARRIVES_EARLIER:
		queue_earlier(s, fd, datagram);
		return;
	}
}

static struct fib_overflow *make(const struct fib_socket *s, const struct fib_address *to,
				 const struct msghdr *m)
{
	const size_t size = fib_message_size(m);
	struct fib_overflow *d = malloc(sizeof *d + sizeof(struct header) + size);
	struct header h = {.from = s->local, .kind = DATA};

	if (!d)
		return NULL;
	if (fib_address_is_any(&h.from)) {
		h.from = fib_port_source(to);
		h.from.port = s->local.port;
	}
	d->next = NULL;
	d->size = sizeof h + size;
	memcpy(d->bytes, &h, sizeof h);
	fib_message_copy(m, d->bytes + sizeof h);
	return d;
}

/* Where a message goes. */
static int read_target(const struct fib_socket *s, const struct msghdr *m, struct fib_address *ret)
{
	int rc = 0;

	if (m->msg_name && m->msg_namelen)
		rc = fib_address_read(m->msg_name, m->msg_namelen, s->family, ret);
	else if (!s->connected)
		return -EDESTADDRREQ;
	else
		*ret = s->remote;
	if (rc == 0 && !ret->port)
		return -EINVAL;
	return rc < 0 ? rc : fib_port_reach(s, ret);
}

ssize_t fib_datagram_send(struct fib_socket *s, int fd, const struct msghdr *m, int flags,
			  const struct fib_call *call)
{
	struct fib_overflow *datagram;
	struct fib_address to;
	int rc;

	(void)flags;
	if (fib_message_has_rights(m))
		return -EINVAL;
	rc = read_target(s, m, &to);
	if (rc == 0 && fib_message_size(m) > (fib_address_is_v4(&to) ? V4_MAX : V6_MAX))
		rc = -EMSGSIZE;
	if (rc == 0 && s->error)
		rc = -fib_socket_take_error(s, fd);
	if (rc == 0 && s->write_shut)
		rc = -EPIPE;
	if (rc == 0)
		rc = fib_port_choose(s);
	if (rc == 0)
		rc = fib_socket_make_name(s, fd);
	if (rc < 0)
		return rc;
	datagram = make(s, &to, m);
	if (!datagram)
		return -ENOMEM;
	deliver(s, fd, &to, datagram, call);
	return (ssize_t)fib_message_size(m);
}

/* One from the kernel's queue, with its header. v: room for the pieces of m and one more. */
static ssize_t take(int fd, struct msghdr *m, struct iovec *v, int flags, struct header *ret)
{
	struct msghdr whole = {.msg_iov = v, .msg_iovlen = m->msg_iovlen + 1};
	ssize_t n;

	ret->kind = DATA;
	v[0] = (struct iovec){ret, sizeof *ret};
	if (m->msg_iovlen)
		memcpy(v + 1, m->msg_iov, m->msg_iovlen * sizeof *v);
	n = fib_real()->recvmsg(fd, &whole, flags | MSG_DONTWAIT);
	m->msg_flags = whole.msg_flags;
	m->msg_controllen = 0;
	return n < 0 ? -errno : n - (ssize_t)sizeof *ret;
}

static ssize_t receive(struct fib_socket *s, int fd, struct msghdr *m, struct iovec *v, int flags)
{
	struct header h;
	ssize_t n = take(fd, m, v, flags, &h);

	while (n >= 0 && h.kind == WAKE) {
		if (flags & MSG_PEEK)
			take(fd, m, v, flags & ~MSG_PEEK, &h);
		n = take(fd, m, v, flags, &h);
	}
	if (n < 0)
		return n == -EAGAIN && s->read_shut ? 0 : n;
	if (!(flags & MSG_PEEK))
		refill(s, fd);
	if (m->msg_name)
		fib_address_write(&h.from, s->family, m->msg_name, &m->msg_namelen);
	return n;
}

ssize_t fib_datagram_receive(struct fib_socket *s, int fd, struct msghdr *m, int flags)
{
	struct iovec few[FEW + 1], *v = few;
	ssize_t n;

	if (s->error)
		return -fib_socket_take_error(s, fd);
	if (m->msg_iovlen > FEW)
		v = malloc((m->msg_iovlen + 1) * sizeof *v);
	if (!v)
		return -ENOMEM;
	n = receive(s, fd, m, v, flags);
	if (v != few)
		free(v);
	return n;
}
