/* SPDX-License-Identifier: MIT */
/*
 * poll.c - the poller on poll(2), which every system has
 *
 * The reference implementation. The kernel keeps no state about the descriptors, and each wait
 * costs time in proportion to their number. There are no edges: an event that was reported is not
 * asked for again until a caller wants it (set.c). A fiber wants it right before it parks. Since
 * poll(2) reports states, no event is missed.
 *
 * A thread in poll(2) does not see changes of the set. So a change makes an eventfd readable if a
 * thread waits, and the wait starts again. This also makes the kernel release forgotten
 * descriptors: poll(2) holds their files open while it waits, and the peer of a connection would
 * not see the close. If the program itself closes a descriptor that is in the set, the file stays
 * open until the next change; then an error is reported, and the descriptor is dropped.
 *
 * For a program that polls itself (`lend`), a thread, the lookout, waits for the same set. It makes
 * an eventfd readable when an event has come, but only if the set has not changed since it asked,
 * so that events already taken by a wait are not reported again.
 */
#include "poll/poller.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/local.h"
#include "os/os.h"
#include "os/threads.h"
#include "poll/events.h"
#include "poll/remaining.h"
#include "poll/set.h"

#define DAY INT64_C(86400000000000) /* ns */

/* I set when opened · L under lock · W the waiting thread · T the lookout · A any thread, atomic */
struct poll {
	struct fib_poller base; /* I */
	pthread_mutex_t lock;
	struct fib_poll_set set;	/* L */
	bool waiting;			/* L: a thread is in poll(2) with a copy of the set */
	struct fib_poll_question asked; /* W */
	int changed_fd;			/* I: ends that poll(2) */
	_Atomic uint32_t woken;		/* A: `wake` was called since the last wait (poll.woken) */

	_Atomic uint32_t lent;		/* A: there is a lookout (poll.lent) */
	_Atomic uint32_t ending;	/* A: it must exit */
	pthread_t lookout;		/* I once lent */
	pid_t owner;			/* I once lent: the process that it is a thread of */
	struct fib_poll_question ahead; /* T */
	int turn_fd;			/* I: ends its poll(2) */
	bool reported;			/* L: it has seen an event, and no wait has looked since */
	int report_fd; /* I: readable as long as a wait would return. L clears, any thread sets */
};

static void close_poller(struct fib_poller *base)
{
	struct poll *p = (struct poll *)base;
	const int fds[] = {p->changed_fd, p->turn_fd, p->report_fd};
	size_t i;

	/* A forked child has the memory but not the thread. */
	if (fib_load_acquire(&p->lent) && p->owner == getpid()) {
		fib_store_release(&p->ending, 1); /* label: poll.ending */
		fib_os_event_set(p->turn_fd);
		pthread_join(p->lookout, NULL);
	}
	for (i = 0; i < fib_countof(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	fib_poll_set_close(&p->set);
	fib_poll_question_close(&p->asked);
	fib_poll_question_close(&p->ahead);
	free(p);
}

static int open_all(struct poll *p)
{
	int rc = fib_poll_set_open(&p->set);

	if (rc == 0)
		rc = fib_poll_question_open(&p->asked);
	if (rc == 0)
		rc = fib_poll_question_open(&p->ahead);
	if (rc == 0)
		rc = p->changed_fd = fib_os_event();
	if (rc >= 0)
		rc = p->turn_fd = fib_os_event();
	if (rc >= 0)
		rc = p->report_fd = fib_os_event();
	return rc < 0 ? rc : 0;
}

static int open_poller(struct fib_poller **ret)
{
	struct poll *p = calloc(1, sizeof *p);
	int rc;

	if (!p)
		return -ENOMEM;
	p->base.ops = &fib_poller_poll;
	pthread_mutex_init(&p->lock, NULL);
	p->changed_fd = p->turn_fd = p->report_fd = -1;
	rc = open_all(p);
	if (rc < 0) {
		close_poller(&p->base);
		return rc;
	}
	*ret = &p->base;
	return 0;
}

/* Under the lock: the set now differs from what threads in poll(2) have. */
static void changed(struct poll *p)
{
	if (p->waiting)
		fib_os_event_set(p->changed_fd);
	if (fib_load(&p->lent))
		fib_os_event_set(p->turn_fd);
}

static int want(struct fib_poller *base, int fd, uint64_t token, short events)
{
	struct poll *p = (struct poll *)base;
	struct stat is;
	int rc;

	if (fstat(fd, &is) == 0) {
		if (S_ISREG(is.st_mode) || S_ISDIR(is.st_mode))
			return -EPERM;
	} else if (!fib_os_is_refusal(-errno)) {
		return -errno;
	} /* else poll(2) finds a regular file ready */
	pthread_mutex_lock(&p->lock);
	rc = fib_poll_set_ask(&p->set, fd, token, events);
	if (rc == 0)
		changed(p);
	pthread_mutex_unlock(&p->lock);
	return rc;
}

static int watch(struct fib_poller *base, int fd, uint64_t token)
{
	return want(base, fd, token, FIB_POLL_EDGES);
}

static int forget(struct fib_poller *base, int fd)
{
	struct poll *p = (struct poll *)base;

	pthread_mutex_lock(&p->lock);
	if (fib_poll_set_drop(&p->set, fd))
		changed(p);
	pthread_mutex_unlock(&p->lock);
	return 0;
}

/* -- waiting -- */

/* A signal ends it. Without ppoll the time is rounded up to a millisecond. */
static int poll_until(struct fib_poll_question *q, int64_t deadline)
{
	struct timespec t;
	int64_t left = fib_poll_remaining(deadline, &t);
	int n = ppoll(q->fds, q->n, deadline == INT64_MAX ? NULL : &t, NULL);

	if (n < 0 && fib_os_is_refusal(-errno)) {
		if (left > DAY)
			left = DAY;
		n = poll(q->fds, q->n,
			 deadline == INT64_MAX ? -1 : (int)((left + 999999) / 1000000));
	}
	return n < 0 ? -errno : n;
}

/* Restart the lookout. A wake-up that was not handled yet stays pending. */
static void untell(struct poll *p)
{
	if (!fib_load_acquire(&p->lent))
		return;
	p->reported = false;
	fib_os_event_clear(p->report_fd);
	/* pairs: poll.woken -- either this sees the wake-up, or the waker writes afterwards. */
	fib_fence_seq();
	if (fib_load(&p->woken))
		fib_os_event_set(p->report_fd);
	fib_os_event_set(p->turn_fd);
}

static fib_noinline int wait_poller(struct fib_poller *base, struct fib_poll_event *events, int max,
				    int64_t deadline)
{
	struct poll *p = (struct poll *)base;
	bool woken;
	int n, kept = 0;

	do {
		pthread_mutex_lock(&p->lock);
		fib_poll_set_copy(&p->set, &p->asked, p->changed_fd);
		p->waiting = true;
		pthread_mutex_unlock(&p->lock);
		n = poll_until(&p->asked, deadline);
		pthread_mutex_lock(&p->lock);
		p->waiting = false;
		if (n > 0 && p->asked.fds[0].revents)
			fib_os_event_clear(p->changed_fd);
		/* pairs: poll.woken -- what the waker did before is visible. */
		woken = fib_swap_seq(&p->woken, 0);
		if (n > 0)
			kept = fib_poll_set_report(&p->set, &p->asked, events, max);
		if (kept || woken || n <= 0)
			untell(p);
		pthread_mutex_unlock(&p->lock);
	} while (n > 0 && !kept && !woken);
	return n < 0 && n != -EINTR ? n : kept;
}

static void wake(struct fib_poller *base)
{
	struct poll *p = (struct poll *)base;

	/* label: poll.woken -- before the descriptors are written. */
	fib_store_seq(&p->woken, 1);
	fib_os_event_set(p->changed_fd);
	if (fib_load_acquire(&p->lent))
		fib_os_event_set(p->report_fd);
}

/* -- for a program that waits itself -- */

static void *look_out(void *arg)
{
	struct poll *p = arg;
	struct fib_poll_question *const q = &p->ahead;

	fib_os_thread_name("fiber-lookout");
	while (!fib_load_acquire(&p->ending)) { /* pairs: poll.ending */
		pthread_mutex_lock(&p->lock);
		fib_poll_set_copy(&p->set, q, p->turn_fd);
		/* Once it has reported, further events need no report. */
		if (p->reported)
			q->n = 1;
		pthread_mutex_unlock(&p->lock);
		if (poll_until(q, INT64_MAX) < 0)
			continue;
		if (q->fds[0].revents) {
			fib_os_event_clear(p->turn_fd);
			continue;
		}
		pthread_mutex_lock(&p->lock);
		if (p->set.version == q->version) {
			p->reported = true;
			fib_os_event_set(p->report_fd);
		}
		pthread_mutex_unlock(&p->lock);
	}
	return NULL;
}

static int lend(struct fib_poller *base)
{
	struct poll *p = (struct poll *)base;
	int rc;

	p->owner = getpid();
	/*
	 * label: poll.lent -- a wake-up or change of the set after this also notifies the lookout.
	 * An earlier wake-up is recorded in `woken`.
	 */
	fib_store_seq(&p->lent, 1);
	rc = fib_os_thread_start(&p->lookout, look_out, p);
	if (rc < 0) {
		fib_store_release(&p->lent, 0);
		return rc;
	}
	if (fib_load_seq(&p->woken))
		fib_os_event_set(p->report_fd);
	return 0;
}

static int descriptor(struct fib_poller *base)
{
	return ((struct poll *)base)->report_fd;
}

const struct fib_poller_ops fib_poller_poll = {
	.name = "poll",
	.open = open_poller,
	.close = close_poller,
	.watch = watch,
	.want = want,
	.forget = forget,
	.wait = wait_poller,
	.wake = wake,
	.lend = lend,
	.descriptor = descriptor,
};
