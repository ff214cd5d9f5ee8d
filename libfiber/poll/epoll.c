/* SPDX-License-Identifier: MIT */
/*
 * epoll.c - the poller on epoll
 *
 * A descriptor is registered once, for both directions and edge-triggered. A wait then needs no
 * system call of its own. epoll_pwait2 takes nanoseconds, so a deadline is not rounded up to a
 * millisecond. Where the kernel does not have it, or a sandbox refuses it, epoll_wait is used, with
 * the time rounded up.
 */
#include "poll/poller.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/features.h"
#include "os/local.h"
#include "poll/events.h"
#include "poll/remaining.h"

#define BATCH	   128
#define TOKEN_WAKE UINT64_MAX

_Static_assert(EPOLLIN == POLLIN && EPOLLPRI == POLLPRI && EPOLLOUT == POLLOUT &&
		       EPOLLRDHUP == POLLRDHUP && EPOLLERR == POLLERR && EPOLLHUP == POLLHUP,
	       "epoll(7) and poll(2) have different bits");

struct epoll {
	struct fib_poller base;
	int fd;
	int wake_fd;
	bool coarse; /* no epoll_pwait2 */
};

static void close_poller(struct fib_poller *p)
{
	struct epoll *e = (struct epoll *)p;

	if (e->wake_fd >= 0)
		close(e->wake_fd);
	if (e->fd >= 0)
		close(e->fd);
	free(e);
}

/* Whether there is epoll_pwait2: ask it for what is not there. */
static bool is_coarse(int fd)
{
	const struct timespec none = {0};
	struct epoll_event event;
	const bool coarse =
		epoll_pwait2(fd, &event, 1, &none, NULL) < 0 && fib_os_is_refusal(-errno);

	if (coarse)
		fib_os_feature_lacks(FIB_OS_EPOLL_PWAIT2);
	else
		fib_os_feature_works(FIB_OS_EPOLL_PWAIT2);
	return coarse;
}

static int open_poller(struct fib_poller **ret)
{
	struct epoll_event wake = {.events = EPOLLIN, .data.u64 = TOKEN_WAKE};
	struct epoll *e = calloc(1, sizeof *e);
	int rc;

	if (!e)
		return -ENOMEM;
	e->base.ops = &fib_poller_epoll;
	e->fd = epoll_create1(EPOLL_CLOEXEC);
	rc = e->fd < 0 ? -errno : 0;
	e->wake_fd = fib_os_event();
	if (rc == 0 && e->wake_fd < 0)
		rc = e->wake_fd;
	if (rc == 0 && epoll_ctl(e->fd, EPOLL_CTL_ADD, e->wake_fd, &wake) < 0)
		rc = -errno;
	if (rc < 0) {
		close_poller(&e->base);
		return rc;
	}
	e->coarse = is_coarse(e->fd);
	*ret = &e->base;
	return 0;
}

/*
 * The program may close fd, or replace it by another file, between two calls. Returns 1 if changing
 * found nothing to change.
 */
static int add_or_change(struct epoll *e, int fd, uint64_t token, int how)
{
	struct epoll_event event = {.events = FIB_POLL_EDGES | EPOLLET, .data.u64 = token};
	int missed = 0;

	while (epoll_ctl(e->fd, how, fd, &event) < 0) {
		if (errno != EEXIST && errno != ENOENT)
			return -errno;
		missed |= errno == ENOENT;
		how = errno == EEXIST ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
	}
	return missed;
}

static fib_noinline int watch(struct fib_poller *p, int fd, uint64_t token)
{
	const int rc = add_or_change((struct epoll *)p, fd, token, EPOLL_CTL_ADD);

	return rc < 0 ? rc : 0;
}

static fib_noinline int rewatch(struct fib_poller *p, int fd, uint64_t token)
{
	return add_or_change((struct epoll *)p, fd, token, EPOLL_CTL_MOD);
}

/* To add a file that is there already changes nothing, and costs less than fstat(2). */
static fib_noinline int holds(struct fib_poller *p, int fd, uint64_t token)
{
	struct epoll_event event = {.events = FIB_POLL_EDGES | EPOLLET, .data.u64 = token};

	if (epoll_ctl(((struct epoll *)p)->fd, EPOLL_CTL_ADD, fd, &event) == 0)
		return 1;
	return errno == EEXIST ? 0 : -errno;
}

static fib_noinline int forget(struct fib_poller *p, int fd)
{
	struct epoll *e = (struct epoll *)p;

	return epoll_ctl(e->fd, EPOLL_CTL_DEL, fd, NULL) < 0 ? -errno : 0;
}

static int wait_events(struct epoll *e, struct epoll_event *events, int max, int64_t deadline)
{
	struct timespec t;
	int64_t left = fib_poll_remaining(deadline, &t);
	int n;

	if (!e->coarse) {
		n = epoll_pwait2(e->fd, events, max, deadline == INT64_MAX ? NULL : &t, NULL);
		if (n >= 0 || !fib_os_is_refusal(-errno))
			return n < 0 ? -errno : n;
		/* A sandbox, entered since. */
		e->coarse = true;
		fib_os_feature_lacks(FIB_OS_EPOLL_PWAIT2);
	}
	if (left > INT64_C(86400000000000))
		left = INT64_C(86400000000000);
	n = epoll_wait(e->fd, events, max,
		       deadline == INT64_MAX ? -1 : (int)((left + 999999) / 1000000));
	return n < 0 ? -errno : n;
}

static fib_noinline int wait_poller(struct fib_poller *p, struct fib_poll_event *events, int max,
				    int64_t deadline)
{
	struct epoll *e = (struct epoll *)p;
	struct epoll_event raw[BATCH];
	int i, n, kept = 0;

	n = wait_events(e, raw, max < BATCH ? max : BATCH, deadline);
	if (n < 0)
		return n == -EINTR ? 0 : n;
	for (i = 0; i < n; i++) {
		if (raw[i].data.u64 == TOKEN_WAKE) {
			fib_os_event_clear(e->wake_fd);
			continue;
		}
		events[kept].token = raw[i].data.u64;
		events[kept].events = fib_poll_reported(raw[i].events);
		kept++;
	}
	return kept;
}

static fib_noinline void wake(struct fib_poller *p)
{
	fib_os_event_set(((struct epoll *)p)->wake_fd);
}

static int descriptor(struct fib_poller *p)
{
	return ((struct epoll *)p)->fd;
}

const struct fib_poller_ops fib_poller_epoll = {
	.name = "epoll",
	.open = open_poller,
	.close = close_poller,
	.watch = watch,
	.rewatch = rewatch,
	.holds = holds,
	.forget = forget,
	.wait = wait_poller,
	.wake = wake,
	.descriptor = descriptor,
};
