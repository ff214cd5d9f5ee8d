/* SPDX-License-Identifier: MIT */
/*
 * ready.c - poll, select and epoll_wait
 *
 * The variants with a signal mask replace the mask of a thread and wait atomically. A fiber has no
 * mask. So such a call is made on another thread, where it is the system's; a signal that it lets
 * in runs there.
 */
#include "call/ready.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/io.h>
#include <fiber/posix.h>
#include <fiber/time.h>

#include "call/off_carrier.h"
#include "call/park.h"
#include "system/system.h"

int64_t fpx_deadline_ms(int timeout)
{
	return timeout < 0 ? FIBER_FOREVER : fiber_after(timeout * INT64_C(1000000));
}

/* The tools show the descriptor of such a wait. */
static int poll_one(struct pollfd *fd, int64_t deadline)
{
	int rc = fiber_wait_fd(fd->fd, fd->events, deadline);

	if (rc == -EBADF)
		rc = POLLNVAL;
	if (rc < 0)
		return rc;
	fd->revents = (short)rc;
	return 1;
}

int fpx_poll_until(struct pollfd *fds, nfds_t n, int64_t deadline)
{
	nfds_t i;
	int rc;

	if (n == 1 && fds->fd >= 0 && fds->events)
		rc = poll_one(fds, deadline);
	else
		rc = fiber_poll(fds, n, deadline);
	if (rc != -ETIMEDOUT)
		return rc;
	for (i = 0; i < n; i++)
		fds[i].revents = 0;
	return 0;
}

int fiber_posix_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	if (!timeout || !fpx_parks())
		return fpx_system.poll(fds, n, timeout);
	return (int)fpx_result(fpx_poll_until(fds, n, fpx_deadline_ms(timeout)));
}

struct masked_poll {
	struct pollfd *fds;
	nfds_t n;
	const struct timespec *timeout;
	const sigset_t *mask;
	int rc;
};

static void *poll_masked(void *arg)
{
	struct masked_poll *p = arg;

	p->rc = fpx_system.ppoll(p->fds, p->n, p->timeout, p->mask);
	if (p->rc < 0)
		p->rc = -errno;
	return NULL;
}

/* Times that the system refuses go to the system. */
bool fpx_time_valid(const struct timespec *time)
{
	return !time || (time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < 1000000000);
}

int fiber_posix_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		      const sigset_t *mask)
{
	struct masked_poll p = {fds, n, timeout, mask, 0};
	int rc;

	if (!fpx_time_valid(timeout) || !fpx_parks())
		return fpx_system.ppoll(fds, n, timeout, mask);
	if (!mask)
		return (int)fpx_result(fpx_poll_until(fds, n, fpx_deadline_after(timeout)));
	rc = fpx_off_carrier(poll_masked, &p);
	return (int)fpx_result(rc < 0 ? rc : p.rc);
}

struct masked_epoll {
	int fd, max, timeout, rc;
	struct epoll_event *events;
	const sigset_t *mask;
};

static void *epoll_masked(void *arg)
{
	struct masked_epoll *e = arg;

	e->rc = fpx_system.epoll_pwait(e->fd, e->events, e->max, e->timeout, e->mask);
	if (e->rc < 0)
		e->rc = -errno;
	return NULL;
}

int fiber_posix_epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
	int64_t deadline;
	int n, rc;

	if (!timeout || !fpx_parks())
		return fpx_system.epoll_wait(fd, events, max, timeout);
	deadline = fpx_deadline_ms(timeout);
	do {
		n = fpx_system.epoll_wait(fd, events, max, 0);
		if (n != 0)
			return n;
		rc = fiber_wait_fd(fd, POLLIN, deadline);
	} while (rc >= 0);
	return rc == -ETIMEDOUT ? 0 : (int)fpx_result(rc);
}

int fiber_posix_epoll_pwait(int fd, struct epoll_event *events, int max, int timeout,
			    const sigset_t *mask)
{
	struct masked_epoll e = {fd, max, timeout, 0, events, mask};
	int rc;

	if (!mask)
		return fiber_posix_epoll_wait(fd, events, max, timeout);
	if (!timeout || !fpx_parks())
		return fpx_system.epoll_pwait(fd, events, max, timeout, mask);
	rc = fpx_off_carrier(epoll_masked, &e);
	return (int)fpx_result(rc < 0 ? rc : e.rc);
}
