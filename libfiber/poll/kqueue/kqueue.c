/* SPDX-License-Identifier: MIT */
/*
 * kqueue.c - the poller on kqueue(2), which the BSDs and macOS have
 *
 * A kernel queue has one entry for each pair of a descriptor and a direction ("filter"). A watched
 * descriptor has both entries, with EV_CLEAR: each reports a change once. The token is the entries'
 * user data.
 *
 * One change may make both entries of a descriptor active. They follow each other in the queue, so
 * wait() joins neighbours with one token into one event. Where an answer of kevent(2) ends between
 * the two, the caller gets two events, and each is true.
 *
 * kevent(2) is asked for ROOM entries, and what the caller has no room for is kept for the next
 * wait. libkqueue needs this: it takes as many descriptors from epoll as it is asked for entries,
 * and drops the entries that do not fit. With more than ROOM / 2 ready descriptors it still does,
 * so it is for tests.
 *
 * Closing a descriptor removes its entries from the kernel's queue. libkqueue keeps its own copy of
 * the entries, and a closed descriptor stays there. So watch() deletes the entries of the number
 * before it adds them. To add them anew also reports what is ready already, which a change of an
 * existing entry does not do on every system.
 *
 * kqueue(2) has no portable filter for out-of-band data: POLLPRI is never reported.
 */
#include "poll/poller.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/event.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/os.h"
#include "poll/remaining.h"

#define ROOM	   512
#define IDENT_WAKE 1

_Static_assert(sizeof(void *) >= sizeof(uint64_t), "a token does not fit into an entry");

struct queue {
	struct fib_poller base;
	int fd;
	int at, n; /* the waiting thread's: raw[at] to raw[n - 1] are not reported yet */
	struct kevent raw[ROOM]; /* the waiting thread's */
};

static void close_poller(struct fib_poller *p)
{
	struct queue *q = (struct queue *)p;

	if (q->fd >= 0)
		close(q->fd);
	free(q);
}

/* Make the n changes. EV_RECEIPT: kevent(2) answers each one, and takes no event. */
static int change(int fd, struct kevent *changes, int n)
{
	static const struct timespec now = {0, 0};
	int rc;

	do
		rc = kevent(fd, changes, n, changes, n, &now);
	while (rc < 0 && errno == EINTR);
	return rc < 0 ? -errno : 0;
}

static void *udata(uint64_t token)
{
	return (void *)(uintptr_t)token; // NOLINT(performance-no-int-to-ptr)
}

static int open_poller(struct fib_poller **ret)
{
	struct queue *q = calloc(1, sizeof *q);
	struct kevent wake;
	int rc;

	if (!q)
		return -ENOMEM;
	q->base.ops = &fib_poller_kqueue;
	q->fd = kqueue();
	rc = q->fd < 0 ? -errno : 0;
	if (rc == 0 && fcntl(q->fd, F_SETFD, FD_CLOEXEC) < 0)
		rc = -errno;
	if (rc == 0) {
		EV_SET(&wake, IDENT_WAKE, EVFILT_USER, EV_ADD | EV_CLEAR | EV_RECEIPT, 0, 0, NULL);
		rc = change(q->fd, &wake, 1);
		if (rc == 0)
			rc = -(int)wake.data;
	}
	if (rc < 0) {
		close_poller(&q->base);
		return rc;
	}
	*ret = &q->base;
	return 0;
}

/* A change of both entries of fd. */
static void both(struct kevent changes[2], int fd, unsigned short flags, uint64_t token)
{
	flags |= EV_RECEIPT;
	EV_SET(&changes[0], (uintptr_t)fd, EVFILT_READ, flags, 0, 0, udata(token));
	EV_SET(&changes[1], (uintptr_t)fd, EVFILT_WRITE, flags, 0, 0, udata(token));
}

static fib_noinline int forget(struct fib_poller *p, int fd)
{
	struct kevent changes[2];

	/* The answers say whether there were entries; the contract does not ask. */
	both(changes, fd, EV_DELETE, 0);
	return change(((struct queue *)p)->fd, changes, 2);
}

/*
 * Some files have one direction only, and are refused for the other: fd is watched if one entry was
 * added. EPIPE: fd is a pipe that has no reader, so a write returns at once.
 */
static fib_noinline int watch(struct fib_poller *p, int fd, uint64_t token)
{
	struct kevent changes[2];
	struct stat is;
	int rc;

	if (fstat(fd, &is) < 0)
		return -errno;
	if (S_ISREG(is.st_mode) || S_ISDIR(is.st_mode))
		return -EPERM;
	rc = forget(p, fd);
	if (rc < 0)
		return rc;
	both(changes, fd, EV_ADD | EV_CLEAR, token);
	rc = change(((struct queue *)p)->fd, changes, 2);
	if (rc < 0)
		return rc;
	if (changes[1].data == EPIPE) {
		forget(p, fd);
		return -EPERM;
	}
	return changes[0].data && changes[1].data ? -(int)changes[0].data : 0;
}

/* What an entry reports, in bits of poll(2). fflags has the error of a socket. */
static short reported(const struct kevent *e)
{
	const bool ended = e->flags & EV_EOF;

	if (e->flags & EV_ERROR || (ended && e->fflags))
		return POLLIN | POLLOUT | POLLERR;
	if (e->filter == EVFILT_READ)
		return (short)(ended ? POLLIN | POLLRDHUP : POLLIN);
	return (short)(ended ? POLLOUT | POLLERR : POLLOUT);
}

/* Both directions have ended: the connection is gone, and not only the reader of a pipe. */
static short joined(short one, short other)
{
	const short sum = (short)(one | other);

	return (short)((sum & POLLRDHUP) && (sum & POLLERR) ? sum | POLLHUP : sum);
}

static fib_noinline void wake(struct fib_poller *p)
{
	struct kevent trigger;

	EV_SET(&trigger, IDENT_WAKE, EVFILT_USER, EV_RECEIPT, NOTE_TRIGGER, 0, NULL);
	change(((struct queue *)p)->fd, &trigger, 1);
}

/* Whether e is the other direction of the descriptor whose event was made of `before`. */
static bool other_direction(const struct kevent *e, const struct kevent *before)
{
	return before && before->ident == e->ident && before->udata == e->udata &&
	       before->filter != EVFILT_USER;
}

/* Report entries that are kept. */
static int report(struct queue *q, struct fib_poll_event *events, int max)
{
	const struct kevent *before = NULL;
	int kept = 0;

	for (; q->at < q->n; before = &q->raw[q->at++]) {
		const struct kevent *const e = &q->raw[q->at];

		if (e->filter == EVFILT_USER)
			continue;
		if (other_direction(e, before)) {
			events[kept - 1].events = joined(events[kept - 1].events, reported(e));
			continue;
		}
		if (kept == max)
			break;
		events[kept].token = (uint64_t)(uintptr_t)e->udata;
		events[kept++].events = reported(e);
	}
	return kept;
}

static fib_noinline int wait_poller(struct fib_poller *p, struct fib_poll_event *events, int max,
				    int64_t deadline)
{
	struct queue *q = (struct queue *)p;
	struct timespec t;
	int n, kept;

	if (q->at == q->n) {
		do {
			fib_poll_remaining(deadline, &t);
			n = kevent(q->fd, NULL, 0, q->raw, ROOM, deadline == INT64_MAX ? NULL : &t);
			/* The clock of the timeout may be coarser than the deadline. */
		} while (n == 0 && deadline != INT64_MAX && fib_poll_remaining(deadline, &t) > 0);
		if (n < 0)
			return errno == EINTR ? 0 : -errno;
		q->at = 0;
		q->n = n;
	}
	kept = report(q, events, max);
	/* The descriptor stays readable while entries are kept. */
	if (q->at < q->n)
		wake(p);
	return kept;
}

static int descriptor(struct fib_poller *p)
{
	return ((struct queue *)p)->fd;
}

const struct fib_poller_ops fib_poller_kqueue = {
	.name = "kqueue",
	.open = open_poller,
	.close = close_poller,
	.watch = watch,
	.forget = forget,
	.wait = wait_poller,
	.wake = wake,
	.descriptor = descriptor,
};
