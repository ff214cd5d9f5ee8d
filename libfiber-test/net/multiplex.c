/* SPDX-License-Identifier: MIT */
/*
 * multiplex.c - poll, select and epoll; in place of libc's functions
 *
 * In a fiber of a schedule, or on the main thread of a whole program, a call that would wait lets
 * other fibers run, and its timeout is virtual time. Everything else is the system's.
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "net/linked.h"
#include "net/real.h"
#include "net/sockets.h"
#include "net/wait.h"
#include "os/aside.h"
#include "os/virtual.h"

const char fib_net_multiplex;

#define SECOND INT64_C(1000000000) /* ns */
#define MS     INT64_C(1000000)

static bool in_schedule(void)
{
	return fib_virtual_here() && fib_aside_may();
}

/* The deadline of a timeout; negative: none. */
static int64_t deadline_of(int64_t ns)
{
	const int64_t now = fib_virtual_now();

	return ns < 0 || ns > INT64_MAX - now ? INT64_MAX : now + ns;
}

static int64_t ns_of(int64_t seconds, int64_t ns)
{
	return seconds > INT64_MAX / 2 / SECOND ? INT64_MAX / 2 : seconds * SECOND + ns;
}

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	if (!timeout || !in_schedule())
		return fib_real()->poll(fds, n, timeout);
	return fib_net_poll(fds, n, deadline_of(timeout * MS));
}

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	const struct timespec now = {0, 0};
	int rc;

	if ((timeout && !timeout->tv_sec && !timeout->tv_nsec) || !in_schedule())
		return fib_real()->ppoll(fds, n, timeout, mask);
	rc = fib_real()->ppoll(fds, n, &now, mask);
	if (rc)
		return rc;
	return fib_net_poll(fds, n,
			    deadline_of(timeout ? ns_of(timeout->tv_sec, timeout->tv_nsec) : -1));
}

/* -- select -- */

struct sets {
	fd_set in, out, except;
};

static void copy_set(fd_set *to, const fd_set *from)
{
	if (to && from)
		*to = *from;
}

/* What select(2) asks for, as poll(2) does. Returns the number of descriptors. */
static nfds_t to_poll(int n, const struct sets *wanted, struct pollfd *fds)
{
	nfds_t count = 0;
	short events;
	int fd;

	for (fd = 0; fd < n && fd < FD_SETSIZE; fd++) {
		events = FD_ISSET(fd, &wanted->in) ? POLLIN : 0;
		events |= FD_ISSET(fd, &wanted->out) ? POLLOUT : 0;
		events |= FD_ISSET(fd, &wanted->except) ? POLLPRI : 0;
		if (events)
			fds[count++] = (struct pollfd){.fd = fd, .events = events};
	}
	return count;
}

static int select_until(int n, fd_set *in, fd_set *out, fd_set *except, int64_t deadline)
{
	struct pollfd fds[FD_SETSIZE];
	struct sets wanted;
	nfds_t count;
	int rc;

	memset(&wanted, 0, sizeof wanted);
	copy_set(&wanted.in, in);
	copy_set(&wanted.out, out);
	copy_set(&wanted.except, except);
	count = to_poll(n, &wanted, fds);
	for (;;) {
		struct timeval now = {0, 0};

		rc = fib_real()->select(n, in, out, except, &now);
		if (rc || fib_net_poll(fds, count, deadline) <= 0)
			return rc;
		copy_set(in, &wanted.in);
		copy_set(out, &wanted.out);
		copy_set(except, &wanted.except);
	}
}

int select(int n, fd_set *in, fd_set *out, fd_set *except, struct timeval *timeout)
{
	if ((timeout && !timeout->tv_sec && !timeout->tv_usec) || !in_schedule())
		return fib_real()->select(n, in, out, except, timeout);
	return select_until(
		n, in, out, except,
		deadline_of(timeout ? ns_of(timeout->tv_sec, timeout->tv_usec * 1000) : -1));
}

int pselect(int n, fd_set *in, fd_set *out, fd_set *except, const struct timespec *timeout,
	    const sigset_t *mask)
{
	if ((timeout && !timeout->tv_sec && !timeout->tv_nsec) || !in_schedule())
		return fib_real()->pselect(n, in, out, except, timeout, mask);
	return select_until(n, in, out, except,
			    deadline_of(timeout ? ns_of(timeout->tv_sec, timeout->tv_nsec) : -1));
}

/* -- epoll -- */

/* Which sets watch a socket: see open.c. */
static void note_epoll(struct fib_socket *s, int epoll, int operation)
{
	unsigned i;

	for (i = 0; i < s->epoll_count && s->epolls[i] != epoll; i++)
		;
	if (operation == EPOLL_CTL_DEL && i < s->epoll_count)
		s->epolls[i] = s->epolls[--s->epoll_count];
	else if (operation == EPOLL_CTL_ADD && i == s->epoll_count && i < FIB_SOCKET_EPOLLS)
		s->epolls[s->epoll_count++] = epoll;
}

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
	const int rc = fib_real()->epoll_ctl(epoll, operation, fd, event);
	struct fib_socket *s = rc == 0 ? fib_socket_of(fd) : NULL;

	if (s)
		note_epoll(s, epoll, operation);
	return rc;
}

int epoll_pwait(int epoll, struct epoll_event *events, int max, int timeout, const sigset_t *mask)
{
	struct pollfd p = {.fd = epoll, .events = POLLIN};
	int64_t deadline;
	int rc;

	if (!timeout || !in_schedule())
		return fib_real()->epoll_pwait(epoll, events, max, timeout, mask);
	deadline = deadline_of(timeout * MS);
	do
		rc = fib_real()->epoll_pwait(epoll, events, max, 0, mask);
	while (rc == 0 && fib_net_poll(&p, 1, deadline) > 0);
	return rc;
}

int epoll_wait(int epoll, struct epoll_event *events, int max, int timeout)
{
	return epoll_pwait(epoll, events, max, timeout, NULL);
}
