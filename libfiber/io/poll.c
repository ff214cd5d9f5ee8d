/* SPDX-License-Identifier: MIT */
/*
 * poll.c - wait for any of many descriptors
 *
 * There may be thousands of descriptors. poll(2) asks for all at once. Only if none is ready the
 * fiber joins the queues of all of them with one wait, as in a select (sync/select.c). An edge on
 * any of them ends the wait, and poll(2) asks for all again.
 *
 * The edges of each descriptor are noted before poll(2), and a queue is joined only if no edge has
 * come since. A descriptor that was closed since the first look counts as not open, even if its
 * number is in use again. This is checked after poll(2); otherwise the answer for the new file
 * would be taken for that of the old one.
 *
 * A plain thread and a pinned fiber stay in poll(2), because the poller may not be polled by
 * another thread.
 */
#include "choice.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>

#include <fiber/fiber.h>
#include <fiber/io.h>
#include <fiber/time.h>

#include "core/record.h"
#include "io/descriptor.h"
#include "os/os.h"
#include "wait/wait.h"

/* Up to this many descriptors need no allocation. */
#define FEW 4u

struct place {
	struct fib_waiter w[2];
	struct fib_look look;
	uint32_t generation; /* at the first look */
	bool joined;
};

struct crowd {
	struct pollfd *fds;
	struct place *places; /* of fds[i]: places[i] */
	nfds_t count;
};

/* poll(2) without waiting, in parts: poll(2) refuses more entries than the limit of open files. */
static int ask(struct pollfd *fds, nfds_t n)
{
	int rc = fib_os_poll(fds, n, 0), more;

	if (rc != -EINVAL || n < 2)
		return rc;
	rc = ask(fds, n / 2);
	if (rc < 0)
		return rc;
	more = ask(fds + n / 2, n - n / 2);
	return more < 0 ? more : rc + more;
}

/* Returns how many are ready. */
static int look(struct crowd *c, bool first)
{
	nfds_t i;
	int n;

	for (i = 0; i < c->count; i++) {
		fib_descriptor_look(c->fds[i].fd, &c->places[i].look);
		if (first)
			c->places[i].generation = c->places[i].look.generation;
	}
	n = ask(c->fds, c->count);
	for (i = 0; i < c->count && n >= 0; i++) {
		const struct fib_look meant = {.generation = c->places[i].generation};

		if (c->fds[i].fd < 0 || fib_descriptor_same(c->fds[i].fd, &meant))
			continue;
		n += !c->fds[i].revents;
		c->fds[i].revents = POLLNVAL;
	}
	return n;
}

/* With events 0 only errors and ends count. They come as edges of the reading side. */
static short edges_of(const struct pollfd *p)
{
	return p->events ? p->events : POLLERR;
}

/*
 * Join all queues, except those of descriptors that the poller refuses: only an error could end a
 * wait for these and none comes (a file on a disk). 0; -EAGAIN: a descriptor has changed; or an
 * error.
 */
static int join_each(struct crowd *c, const struct fib_waiter *w)
{
	nfds_t i;
	int rc;

	for (i = 0; i < c->count; i++) {
		struct place *place = &c->places[i];

		if (c->fds[i].fd < 0)
			continue;
		place->w[0] = place->w[1] = *w;
		rc = fib_descriptor_join(c->fds[i].fd, edges_of(&c->fds[i]), &place->look,
					 place->w);
		place->joined = rc == 0;
		if (rc == -EBADF)
			return -EAGAIN;
		if (rc < 0 && rc != -EPERM)
			return rc;
	}
	return 0;
}

static void leave_each(struct crowd *c)
{
	nfds_t i;

	for (i = 0; i < c->count; i++) {
		if (c->places[i].joined)
			fib_descriptor_leave(c->fds[i].fd, edges_of(&c->fds[i]), c->places[i].w);
		c->places[i].joined = false;
	}
}

/* All cases are descriptors (FIB_FIELD_WAIT_ARG). */
static uint64_t wait_arg(uint64_t n)
{
	return n | n << 32;
}

static int wait_for_any(struct crowd *c, int64_t deadline)
{
	struct fib_waiter w;
	int rc, joined;

	rc = fib_wait_begin(&w, FIB_WAIT_SELECT, NULL, wait_arg(c->count), deadline);
	if (rc < 0)
		return rc;
	joined = join_each(c, &w);
	/* If the wait was decided meanwhile, fib_wait() returns at once. */
	if (joined < 0 && fib_wait_retract(&w))
		rc = joined == -EAGAIN ? 0 : joined;
	else
		rc = fib_wait(&w, deadline);
	leave_each(c);
	return rc;
}

static int wait_parked(struct pollfd *fds, nfds_t n, int64_t deadline)
{
	struct place few[FEW];
	struct crowd c = {fds, n > FEW ? calloc(n, sizeof *c.places) : few, n};
	nfds_t i;
	int rc;

	if (!c.places)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		c.places[i].joined = false;
	rc = look(&c, true);
	while (rc == 0) {
		rc = wait_for_any(&c, deadline);
		if (rc == 0)
			rc = look(&c, false);
	}
	if (c.places != few)
		free(c.places);
	return rc;
}

static int wait_blocking(struct pollfd *fds, nfds_t n, int64_t deadline)
{
	int rc = fib_os_poll(fds, n, deadline);

	return rc ? rc : -ETIMEDOUT;
}

static int wait_pinned(struct pollfd *fds, nfds_t n, int64_t deadline)
{
	uint64_t event;
	int rc;

	rc = fib_wait_enter_pinned(FIB_WAIT_SELECT, wait_arg(n), deadline, &event);
	if (rc < 0)
		return rc;
	rc = wait_blocking(fds, n, deadline);
	fib_wait_leave_pinned(event);
	return rc;
}

int fiber_poll(struct pollfd *fds, nfds_t n, int64_t deadline)
{
	struct fiber *fiber = fiber_self();
	int rc;

	fib_choice(NULL);
	if (n > INT_MAX)
		return -EINVAL;
	rc = ask(fds, n);
	if (rc)
		return rc;
	if (deadline != FIBER_FOREVER && deadline <= fiber_now())
		return -ETIMEDOUT;
	if (!fiber)
		return wait_blocking(fds, n, deadline);
	fiber->polled = fds;
	rc = fiber->pins ? wait_pinned(fds, n, deadline) : wait_parked(fds, n, deadline);
	fiber->polled = NULL;
	return rc;
}

/* The index of the first ready descriptor, after a fiber_poll() that found some. */
static int first_of(const struct pollfd *fds, size_t n)
{
	size_t i = 0;

	while (i + 1 < n && !fds[i].revents)
		i++;
	return fds[i].revents & POLLNVAL ? -EBADF : (int)i;
}

int fiber_await_fds(const int *fds, const short *events, size_t n, int64_t deadline)
{
	fib_choice_within();
	struct pollfd few[FEW], *all;
	size_t i;
	int rc = 0;

	if (n == 0 || n > INT_MAX)
		return -EINVAL;
	all = n > FEW ? calloc(n, sizeof *all) : few;
	if (!all)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		all[i] = (struct pollfd){.fd = fds[i], .events = events[i]};
		if (fds[i] < 0)
			rc = -EBADF;
	}
	if (rc == 0)
		rc = fiber_poll(all, (nfds_t)n, deadline);
	if (rc > 0)
		rc = first_of(all, n);
	if (all != few)
		free(all);
	return rc;
}
