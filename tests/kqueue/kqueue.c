/* SPDX-License-Identifier: MIT */
/*
 * kqueue.c - kqueue(2) for tests on Linux
 *
 * A queue is an epoll instance, whose descriptor can be polled. epoll reports a change of a
 * descriptor; it makes the entries active that have a filter for it. Active entries are kept in the
 * order in which they became active, and leave the queue when they are reported. What does not fit
 * into the caller's array stays. While entries are active, the epoll instance also waits for
 * `always_fd`, which is readable, so that its descriptor is readable, too.
 *
 * As in FreeBSD, to close a descriptor removes its entries, without a report. This file cannot see
 * the close: an entry stays without effect until its number is added again.
 *
 * There are as many queues and descriptors as tests need.
 */
#include <sys/event.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define NUMBERS 65536
#define BATCH	64

/* An entry's place in the array of its queue. */
#define PLACE(ident, filter) ((unsigned)(ident)*2 + ((filter) == EVFILT_WRITE))
#define PLACE_USER	     (2 * NUMBERS)
#define PLACES		     (2 * NUMBERS + 1)

struct entry {
	struct entry *next; /* active entries */
	struct kevent report;
	bool added, active;
};

struct queue {
	struct entry *entries;
	struct entry *first, **last;
	int fd;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct queue *queues[NUMBERS]; /* by descriptor; a closed one's is reused */
static int always_fd = -1;	      /* an eventfd that is readable */

static void wait_for_always(struct queue *q, int how, uint32_t bits)
{
	struct epoll_event event = {.events = bits, .data.u64 = UINT64_MAX};

	epoll_ctl(q->fd, how, always_fd, &event);
}

static void enter(struct queue *q, struct entry *e)
{
	if (!e->active) {
		e->active = true;
		e->next = NULL;
		*q->last = e;
		q->last = &e->next;
		if (q->first == e)
			wait_for_always(q, EPOLL_CTL_MOD, EPOLLIN);
	}
}

static void leave(struct queue *q, struct entry *e)
{
	struct entry **at = &q->first;

	if (!e->active)
		return;
	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	if (!*at)
		q->last = at;
	e->active = false;
	e->report.flags = 0;
	if (!q->first)
		wait_for_always(q, EPOLL_CTL_MOD, 0);
}

static int watch_number(const struct queue *q, uintptr_t ident, bool any)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
				    .data.u64 = ident};

	if (!any)
		return epoll_ctl(q->fd, EPOLL_CTL_DEL, (int)ident, &event) < 0 ? errno : 0;
	if (epoll_ctl(q->fd, EPOLL_CTL_MOD, (int)ident, &event) == 0 ||
	    epoll_ctl(q->fd, EPOLL_CTL_ADD, (int)ident, &event) == 0)
		return 0;
	return errno;
}

static int change_number(struct queue *q, const struct kevent *c)
{
	struct entry *const pair = &q->entries[PLACE(c->ident, EVFILT_READ)];
	struct entry *const e = &pair[c->filter == EVFILT_WRITE];
	const bool there = e->added;
	int rc = 0;

	if (c->flags & EV_DELETE) {
		e->added = false;
		leave(q, e);
		if (there)
			rc = watch_number(q, c->ident, pair[0].added || pair[1].added);
		return there ? rc : ENOENT;
	}
	rc = watch_number(q, c->ident, true);
	e->added = rc == 0;
	e->report = (struct kevent){.ident = c->ident, .filter = c->filter, .udata = c->udata};
	return rc;
}

/* Returns an error number, as kevent(2) does in `data`. */
static int change(struct queue *q, const struct kevent *c)
{
	struct entry *const user = &q->entries[PLACE_USER];

	if (c->filter != EVFILT_USER)
		return c->ident < NUMBERS ? change_number(q, c) : EBADF;
	if (c->flags & EV_ADD) {
		user->added = true;
		user->report = (struct kevent){.ident = c->ident, .filter = c->filter};
	}
	if (c->fflags & NOTE_TRIGGER && user->added)
		enter(q, user);
	return user->added ? 0 : ENOENT;
}

static void activate(struct queue *q, const struct epoll_event *event)
{
	struct entry *const pair = &q->entries[PLACE(event->data.u64, EVFILT_READ)];
	const uint32_t bits = event->events;

	if (pair[0].added && bits & (EPOLLIN | EPOLLRDHUP | EPOLLHUP)) {
		pair[0].report.flags |= bits & (EPOLLRDHUP | EPOLLHUP) ? EV_EOF : 0;
		enter(q, &pair[0]);
	}
	if (pair[1].added && bits & (EPOLLOUT | EPOLLHUP | EPOLLERR)) {
		pair[1].report.flags |= bits & (EPOLLHUP | EPOLLERR) ? EV_EOF : 0;
		enter(q, &pair[1]);
	}
}

/* Take from epoll without waiting, as long as all may be reported. */
static void collect(struct queue *q)
{
	struct epoll_event events[BATCH];
	int i, n;

	do {
		n = epoll_wait(q->fd, events, BATCH, 0);
		for (i = 0; i < n; i++)
			if (events[i].data.u64 != UINT64_MAX)
				activate(q, &events[i]);
	} while (n == BATCH);
}

static int report(struct queue *q, struct kevent *events, int max)
{
	int n = 0;

	collect(q);
	while (n < max && q->first) {
		struct entry *const e = q->first;

		events[n++] = e->report;
		leave(q, e);
	}
	return n;
}

int kqueue(void)
{
	const int fd = epoll_create1(0);
	struct queue *q;

	if (fd < 0)
		return -1;
	pthread_mutex_lock(&lock);
	if (always_fd < 0)
		always_fd = eventfd(1, EFD_CLOEXEC);
	if (!queues[fd])
		queues[fd] = calloc(1, sizeof **queues);
	q = queues[fd];
	free(q->entries);
	q->entries = calloc(PLACES, sizeof *q->entries);
	q->first = NULL;
	q->last = &q->first;
	q->fd = fd;
	wait_for_always(q, EPOLL_CTL_ADD, 0);
	pthread_mutex_unlock(&lock);
	return fd;
}

/* The answers to changes with EV_RECEIPT. */
static int change_all(struct queue *q, const struct kevent *changes, int n, struct kevent *answers,
		      int max)
{
	int i, answered = 0;

	for (i = 0; i < n; i++) {
		const int rc = change(q, &changes[i]);

		if (answered < max && (rc || changes[i].flags & EV_RECEIPT)) {
			answers[answered] = changes[i];
			answers[answered].flags = EV_ERROR;
			answers[answered++].data = rc;
		}
	}
	return answered;
}

int kevent(int kq, const struct kevent *changes, int nchanges, struct kevent *events, int nevents,
	   const struct timespec *timeout)
{
	struct queue *const q = queues[kq];
	int n, rc = 1;

	pthread_mutex_lock(&lock);
	n = change_all(q, changes, nchanges, events, nevents);
	while (n == 0 && nevents && rc > 0) {
		n = report(q, events, nevents);
		if (n)
			break;
		pthread_mutex_unlock(&lock);
		/* An event that is taken here would be lost: it is only waited for. */
		rc = ppoll(&(struct pollfd){.fd = kq, .events = POLLIN}, 1, timeout, NULL);
		pthread_mutex_lock(&lock);
	}
	pthread_mutex_unlock(&lock);
	return rc < 0 ? -1 : n;
}
