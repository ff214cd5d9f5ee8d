/* SPDX-License-Identifier: MIT */
/*
 * uring.c - the poller on io_uring
 *
 * A descriptor is watched by one multishot poll operation, which gives a completion for each edge
 * until it is cancelled. The state that epoll keeps in the kernel is kept here: a table by
 * descriptor with the owner's token. Each poll operation has a serial number, which its completions
 * carry. A completion whose number differs from the table's is of a poll that was replaced or
 * forgotten, and is dropped.
 *
 * The kernel may end such a poll by itself: if completions do not fit, or the thread that started
 * it has exited. The last completion says so, and the poll is started again. An edge may have come
 * in between, so this counts as one.
 *
 * A poll keeps its file open after close(2). So a descriptor must be forgotten before it is closed.
 * The file is released when the thread that started the poll has processed that; the kernel
 * interrupts it for this.
 *
 * Regular files and the like would be ready for ever. epoll knows reliably which they are, so it is
 * asked about all descriptors except sockets and pipes.
 *
 * A wake-up is an operation that does nothing. One is enough until it has been seen.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/os.h"
#include "poll/events.h"
#include "poll/poller.h"
#include "poll/uring/inner.h"

#define BLOCK  1024u
#define BLOCKS 4096u

#define FD_BITS 30

struct watched {
	uint64_t token;
	uint32_t serial; /* of its poll operation; 0: not watched */
};

/*
 * I set when opened, then read-only · L under ring.lock · T the waiting thread · A any thread,
 * atomic
 */
struct uring {
	struct fib_poller base;
	struct fib_ring ring;
	struct watched *blocks[BLOCKS]; /* L */
	uint32_t serials;		/* L: the last serial number used */
	_Atomic uint32_t woken; /* A: a wake-up is pending or was not seen yet (uring.wake) */
	int probe;		/* I: an epoll that is never waited on */
};

static struct watched *find(struct uring *u, int fd)
{
	struct watched *block;

	if (fd < 0 || (unsigned)fd >= BLOCK * BLOCKS)
		return NULL;
	block = u->blocks[(unsigned)fd / BLOCK];
	return block ? &block[(unsigned)fd % BLOCK] : NULL;
}

static int make(struct uring *u, int fd)
{
	struct watched *block = calloc(BLOCK, sizeof *block);
	struct watched **place = &u->blocks[(unsigned)fd / BLOCK];

	if (!block)
		return -ENOMEM;
	fib_spin_lock(&u->ring.lock);
	if (!*place) {
		*place = block;
		block = NULL;
	}
	fib_spin_unlock(&u->ring.lock);
	free(block);
	return 0;
}

static void close_poller(struct fib_poller *p)
{
	struct uring *u = (struct uring *)p;
	unsigned i;

	fib_ring_release(&u->ring);
	for (i = 0; i < BLOCKS; i++)
		free(u->blocks[i]);
	close(u->probe);
	free(u);
}

static int open_poller(struct fib_poller **ret)
{
	struct uring *u = calloc(1, sizeof *u);
	int rc;

	if (!u)
		return -ENOMEM;
	u->base.ops = &fib_poller_uring;
	u->probe = epoll_create1(EPOLL_CLOEXEC);
	rc = u->probe < 0 ? -errno : fib_ring_setup(&u->ring);
	if (rc < 0) {
		if (u->probe >= 0)
			close(u->probe);
		free(u);
		return rc;
	}
	*ret = &u->base;
	return 0;
}

/* Whether fd can be watched: 0; -EPERM: it is always ready; -EBADF. */
static fib_noinline int can_be_watched(struct uring *u, int fd)
{
	struct epoll_event none = {0};
	struct stat st;

	if (fstat(fd, &st) == 0) {
		if (S_ISSOCK(st.st_mode) || S_ISFIFO(st.st_mode))
			return 0;
	} else if (!fib_os_is_refusal(-errno)) {
		return -errno;
	}
	/* EEXIST: another thread is asking about the same descriptor. */
	if (epoll_ctl(u->probe, EPOLL_CTL_ADD, fd, &none) < 0 && errno != EEXIST)
		return -errno;
	epoll_ctl(u->probe, EPOLL_CTL_DEL, fd, NULL);
	return 0;
}

/* The user_data of fd's poll operation. */
static uint64_t known_as(int fd, uint32_t serial)
{
	return (uint64_t)serial << 32 | (uint32_t)fd << 2 | KIND_WATCH;
}

static void fill_poll(struct uring *u, int fd, struct watched *w)
{
	struct io_uring_sqe *entry = fib_ring_entry(&u->ring, 0);

	w->serial = ++u->serials ? u->serials : ++u->serials;
	io_uring_prep_poll_multishot(entry, fd, FIB_POLL_EDGES);
	entry->user_data = known_as(fd, w->serial);
}

static void fill_end(struct uring *u, int fd, uint32_t serial)
{
	struct io_uring_sqe *entry = fib_ring_entry(&u->ring, 0);

	/* IORING_OP_POLL_REMOVE fails for a poll that is handling an edge at this moment. */
	io_uring_prep_cancel64(entry, known_as(fd, serial), 0);
	entry->flags |= IOSQE_CQE_SKIP_SUCCESS;
	entry->user_data = KIND_NOTHING;
}

/* Under the lock. */
static int replace(struct uring *u, int fd, struct watched *w, uint64_t token)
{
	uint32_t before = w->serial;
	int rc;

	if (before)
		fill_end(u, fd, before);
	fill_poll(u, fd, w);
	w->token = token;
	rc = fib_ring_submit(&u->ring);
	if (rc == 0)
		return 0;
	w->serial = 0;
	/* The previous poll may still exist and keep the file open. */
	if (before) {
		fill_end(u, fd, before);
		fib_ring_submit_surely(&u->ring);
	}
	return rc;
}

static int watch(struct fib_poller *p, int fd, uint64_t token)
{
	struct uring *u = (struct uring *)p;
	struct watched *w;
	int rc = can_be_watched(u, fd);

	if (rc == 0 && (unsigned)fd >= BLOCK * BLOCKS)
		rc = -EBADF;
	if (rc < 0)
		return rc;
	fib_spin_lock(&u->ring.lock);
	while (!(w = find(u, fd)) && rc == 0) {
		fib_spin_unlock(&u->ring.lock);
		rc = make(u, fd);
		fib_spin_lock(&u->ring.lock);
	}
	if (w)
		rc = replace(u, fd, w, token);
	fib_spin_unlock(&u->ring.lock);
	return rc;
}

static int forget(struct fib_poller *p, int fd)
{
	struct uring *u = (struct uring *)p;
	struct watched *w;

	fib_spin_lock(&u->ring.lock);
	w = find(u, fd);
	if (w && w->serial) {
		fill_end(u, fd, w->serial);
		w->serial = 0;
		fib_ring_submit_surely(&u->ring);
	}
	fib_spin_unlock(&u->ring.lock);
	return 0;
}

/* Handle a completion of a poll. True: *ret is an event. Under the lock. */
static bool take_edge(struct uring *u, const struct io_uring_cqe *cqe, struct fib_poll_event *ret)
{
	int fd = (int)((uint32_t)cqe->user_data >> 2);
	struct watched *w = find(u, fd);

	if (!w || w->serial != cqe->user_data >> 32)
		return false;
	ret->token = w->token;
	ret->events = fib_poll_reported(cqe->res > 0 ? (uint32_t)cqe->res : FIB_POLL_REPORTED);
	if (cqe->flags & IORING_CQE_F_MORE)
		return true;
	if (cqe->res == -EBADF) {
		/* The descriptor was closed before the kernel looked at it. */
		w->serial = 0;
		return true;
	}
	fill_poll(u, fd, w);
	fib_ring_submit_surely(&u->ring);
	return true;
}

/* Handle any completion. True: *ret is an event. Under the lock. */
static bool take(struct uring *u, const struct io_uring_cqe *cqe, struct fib_poll_event *ret,
		 bool *woken)
{
	struct fib_ring_op *op = (struct fib_ring_op *)(uintptr_t)cqe->user_data;

	switch (cqe->user_data & KIND_MASK) {
	case KIND_WATCH:
		return take_edge(u, cqe, ret);
	case KIND_WAKE:
		/*
		 * pairs: uring.wake -- what was done before any of the merged wake-ups is visible.
		 */
		fib_swap(&u->woken, 0);
		*woken = true;
		return false;
	case KIND_OP:
		ret->token = (uint64_t)(uintptr_t)op;
		ret->events = 0;
		return fib_ring_answer(op, cqe);
	default:
		return false;
	}
}

/* Returns the number of completions taken; *ret_n of them are events, and are stored in events. */
static unsigned collect(struct uring *u, struct fib_poll_event *events, int max, int *ret_n,
			bool *woken)
{
	struct io_uring_cqe *cqe;
	unsigned head, seen = 0;
	int n = 0;

	fib_ring_refresh(&u->ring);
	*ret_n = 0;
	if (!io_uring_cq_ready(&u->ring.uring))
		return 0;
	fib_spin_lock(&u->ring.lock);
	io_uring_for_each_cqe(&u->ring.uring, head, cqe)
	{
		if (n == max)
			break;
		seen++;
		if (take(u, cqe, &events[n], woken))
			n++;
	}
	io_uring_cq_advance(&u->ring.uring, seen);
	fib_spin_unlock(&u->ring.lock);
	*ret_n = n;
	return seen;
}

static int wait_poller(struct fib_poller *p, struct fib_poll_event *events, int max,
		       int64_t deadline)
{
	struct uring *u = (struct uring *)p;
	bool woken = false;
	int n, rc = 0;

	for (;;) {
		/* Many completions may be of polls that have been replaced; these are dropped. */
		while (collect(u, events, max, &n, &woken) && !n && !woken)
			;
		if (n || woken || deadline <= 0 || rc == -ETIME || rc == -EINTR)
			return n;
		if (rc < 0)
			return rc;
		rc = fib_ring_sleep(&u->ring, deadline);
	}
}

static void wake(struct fib_poller *p)
{
	struct uring *u = (struct uring *)p;
	struct io_uring_sqe *entry;

	/* label: uring.wake */
	if (fib_swap(&u->woken, 1))
		return;
	fib_spin_lock(&u->ring.lock);
	entry = fib_ring_entry(&u->ring, 0);
	io_uring_prep_nop(entry);
	entry->user_data = KIND_WAKE;
	fib_ring_submit_surely(&u->ring);
	fib_spin_unlock(&u->ring.lock);
}

static int descriptor(struct fib_poller *p)
{
	return fib_ring_descriptor(&((struct uring *)p)->ring);
}

static struct fib_ring *ring(struct fib_poller *p)
{
	return &((struct uring *)p)->ring;
}

const struct fib_poller_ops fib_poller_uring = {
	.name = "uring",
	.open = open_poller,
	.close = close_poller,
	.watch = watch,
	.forget = forget,
	.wait = wait_poller,
	.wake = wake,
	.descriptor = descriptor,
	.ring = ring,
};
