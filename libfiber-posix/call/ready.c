/* SPDX-License-Identifier: MIT */
/*
 * ready.c - poll, select and epoll_wait
 *
 * The variants with a signal mask replace the mask of a thread and wait atomically. A fiber has no
 * mask. So another thread makes the system's call, without waiting, and a signal that it lets in
 * runs there. Between two such calls the fiber parks for a while, and events end that at once. A
 * call that waited there might do so for ever, and there are few threads.
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

/* Signals come in that late at most, if the program's other threads block them. */
#define SIGNALS_EACH INT64_C(50000000) /* ns */

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

	fpx_unrestarted();
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
	const sigset_t *mask;
	int rc;
};

static void *poll_masked(void *arg)
{
	const struct timespec now = {0, 0};
	struct masked_poll *p = arg;

	p->rc = fpx_system.ppoll(p->fds, p->n, &now, p->mask);
	if (p->rc < 0)
		p->rc = -errno;
	return NULL;
}

/* When a fiber that waits until the deadline looks for signals again. */
static int64_t next_signals(int64_t deadline)
{
	const int64_t next = fiber_after(SIGNALS_EACH);

	return next < deadline ? next : deadline;
}

int fpx_poll_masked(struct pollfd *fds, nfds_t n, const sigset_t *mask, int64_t deadline)
{
	struct masked_poll p = {fds, n, mask, 0};
	int rc;

	if (!mask)
		return fpx_poll_until(fds, n, deadline);
	do {
		rc = fpx_off_carrier(poll_masked, &p);
		if (rc < 0 || p.rc != 0 || fiber_now() >= deadline)
			return rc < 0 ? rc : p.rc;
		rc = fpx_poll_until(fds, n, next_signals(deadline));
	} while (rc == 0);
	return rc;
}

/* Times that the system refuses go to the system. */
bool fpx_time_valid(const struct timespec *time)
{
	return !time || (time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < 1000000000);
}

bool fpx_time_zero(const struct timespec *time)
{
	return time && !time->tv_sec && !time->tv_nsec;
}

int fiber_posix_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		      const sigset_t *mask)
{
	if (!fpx_time_valid(timeout) || (!mask && fpx_time_zero(timeout)) || !fpx_parks())
		return fpx_system.ppoll(fds, n, timeout, mask);
	return (int)fpx_result(fpx_poll_masked(fds, n, mask, fpx_deadline_after(timeout)));
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

/* Returns the number of events; 0 after the deadline; or a negative errno. */
static int epoll_until(int fd, struct epoll_event *events, int max, int64_t deadline)
{
	int n, rc;

	fpx_unrestarted();
	do {
		n = fpx_system.epoll_wait(fd, events, max, 0);
		if (n != 0)
			return n < 0 ? -errno : n;
		rc = fiber_wait_fd(fd, POLLIN, deadline);
	} while (rc >= 0);
	return rc == -ETIMEDOUT ? 0 : rc;
}

int fiber_posix_epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
	if (!timeout || !fpx_parks())
		return fpx_system.epoll_wait(fd, events, max, timeout);
	return (int)fpx_result(epoll_until(fd, events, max, fpx_deadline_ms(timeout)));
}

/* A call that does not wait at all lets no signal in: it waits for 1 ms. */
static int epoll_masked_until(struct masked_epoll *e, int64_t deadline)
{
	int rc;

	do {
		rc = fpx_off_carrier(epoll_masked, e);
		if (rc < 0 || e->rc != 0 || fiber_now() >= deadline)
			return rc < 0 ? rc : e->rc;
		rc = epoll_until(e->fd, e->events, e->max, next_signals(deadline));
	} while (rc == 0);
	return rc;
}

int fiber_posix_epoll_pwait(int fd, struct epoll_event *events, int max, int timeout,
			    const sigset_t *mask)
{
	struct masked_epoll e = {fd, max, 1, 0, events, mask};

	if (!mask)
		return fiber_posix_epoll_wait(fd, events, max, timeout);
	if (!timeout || !fpx_parks())
		return fpx_system.epoll_pwait(fd, events, max, timeout, mask);
	return (int)fpx_result(epoll_masked_until(&e, fpx_deadline_ms(timeout)));
}
