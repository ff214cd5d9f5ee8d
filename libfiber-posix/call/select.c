/* SPDX-License-Identifier: MIT */
/*
 * select.c - select and pselect, as poll
 *
 * Each descriptor that is in one of the three sets becomes an entry for poll. The sets have as many
 * bits as the caller says, which may be more than an fd_set has.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/posix.h>
#include <fiber/time.h>

#include "call/park.h"
#include "call/ready.h"
#include "system/system.h"

#define FEW	  16u
#define WORD_BITS (CHAR_BIT * sizeof(unsigned long))

#define IN_EVENTS  (POLLIN | POLLRDNORM | POLLRDBAND)
#define OUT_EVENTS (POLLOUT | POLLWRNORM | POLLWRBAND)
#define IN_READY   (IN_EVENTS | POLLHUP | POLLERR)
#define OUT_READY  (OUT_EVENTS | POLLERR)

enum { IN, OUT, RARE, SETS };

/* Not FD_ISSET: it refuses descriptors from FD_SETSIZE on. */
static bool has(const fd_set *set, int fd)
{
	const unsigned long *words = (const unsigned long *)(const void *)set;

	return set && words[(size_t)fd / WORD_BITS] >> ((size_t)fd % WORD_BITS) & 1;
}

static void add(fd_set *set, int fd)
{
	unsigned long *words = (unsigned long *)(void *)set;

	words[(size_t)fd / WORD_BITS] |= 1UL << ((size_t)fd % WORD_BITS);
}

static void clear(fd_set *set, int n)
{
	if (set)
		memset(set, 0, ((size_t)n + WORD_BITS - 1) / WORD_BITS * sizeof(unsigned long));
}

static short wanted(fd_set *const sets[SETS], int fd)
{
	return (short)((has(sets[IN], fd) ? IN_EVENTS : 0) | (has(sets[OUT], fd) ? OUT_EVENTS : 0) |
		       (has(sets[RARE], fd) ? POLLPRI : 0));
}

static nfds_t count_wanted(int n, fd_set *const sets[SETS])
{
	nfds_t count = 0;
	int fd;

	for (fd = 0; fd < n; fd++)
		count += wanted(sets, fd) != 0;
	return count;
}

/* Mark fd in a set that asked for it. Returns 1 if so. */
static int mark(fd_set *set, const struct pollfd *p, short asked, short ready)
{
	if (!set || !(p->events & asked) || !(p->revents & ready))
		return 0;
	add(set, p->fd);
	return 1;
}

static int give(int n, fd_set *const sets[SETS], const struct pollfd *fds, nfds_t count)
{
	int ready = 0, i;
	nfds_t at;

	for (at = 0; at < count; at++)
		if (fds[at].revents & POLLNVAL)
			return -EBADF;
	for (i = 0; i < SETS; i++)
		clear(sets[i], n);
	for (at = 0; at < count; at++)
		ready += mark(sets[IN], &fds[at], IN_EVENTS, IN_READY) +
			 mark(sets[OUT], &fds[at], OUT_EVENTS, OUT_READY) +
			 mark(sets[RARE], &fds[at], POLLPRI, POLLPRI);
	return ready;
}

/* A hang-up ends poll also where only the writing side is asked for. It does not end select. */
static void skip_reported(struct pollfd *fds, nfds_t count)
{
	nfds_t at;

	for (at = 0; at < count; at++)
		if (fds[at].revents)
			fds[at].fd = -1;
}

static int select_until(int n, fd_set *const sets[SETS], const sigset_t *mask, int64_t deadline)
{
	const nfds_t count = count_wanted(n, sets);
	struct pollfd few[FEW], *fds = few;
	nfds_t at = 0;
	int fd, rc, ready = 0;

	if (count > FEW) {
		fds = calloc(count, sizeof *fds);
		if (!fds)
			return -ENOMEM;
	}
	for (fd = 0; fd < n; fd++)
		if (wanted(sets, fd))
			fds[at++] = (struct pollfd){.fd = fd, .events = wanted(sets, fd)};
	do {
		rc = fpx_poll_masked(fds, count, mask, deadline);
		if (rc > 0) {
			ready = give(n, sets, fds, count);
			skip_reported(fds, count);
		}
	} while (rc > 0 && ready == 0);
	if (rc == 0)
		give(n, sets, fds, 0);
	if (fds != few)
		free(fds);
	return rc > 0 ? ready : rc;
}

int fiber_posix_select(int n, fd_set *in, fd_set *out, fd_set *rare, struct timeval *timeout)
{
	fd_set *const sets[SETS] = {in, out, rare};
	int64_t deadline = FIBER_FOREVER, left;
	int rc;

	if (n < 0 || (timeout && (timeout->tv_sec < 0 || timeout->tv_usec < 0)) ||
	    (timeout && !timeout->tv_sec && !timeout->tv_usec) || !fpx_parks())
		return fpx_system.select(n, in, out, rare, timeout);
	if (timeout)
		deadline = fpx_deadline_after(
			&(struct timespec){timeout->tv_sec + timeout->tv_usec / 1000000,
					   timeout->tv_usec % 1000000 * 1000});
	rc = select_until(n, sets, NULL, deadline);
	if (timeout && deadline != FIBER_FOREVER) {
		left = deadline - fiber_now();
		left = left > 0 ? left / 1000 : 0;
		*timeout = (struct timeval){left / 1000000, left % 1000000};
	}
	return (int)fpx_result(rc);
}

int fiber_posix_pselect(int n, fd_set *in, fd_set *out, fd_set *rare,
			const struct timespec *timeout, const sigset_t *mask)
{
	fd_set *const sets[SETS] = {in, out, rare};

	if (n < 0 || !fpx_time_valid(timeout) || (!mask && fpx_time_zero(timeout)) || !fpx_parks())
		return fpx_system.pselect(n, in, out, rare, timeout, mask);
	return (int)fpx_result(select_until(n, sets, mask, fpx_deadline_after(timeout)));
}
