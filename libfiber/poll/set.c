/* SPDX-License-Identifier: MIT */
/*
 * set.c - the set of events that poll(2) is asked for
 *
 * poll(2) reports states and not changes: it would report a ready descriptor for ever. The rule: an
 * event that was reported is not asked for again until a caller wants it. poll(2) always reports
 * hang-ups and errors; a descriptor that has one is removed from the set.
 *
 * The set may change while a thread is in poll(2) with a copy of it. If a descriptor was wanted
 * again meanwhile, the answer may be about an earlier file with the same number. It is ignored,
 * since the next poll(2) asks again.
 */
#include "poll/set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "poll/events.h"

#define ROOM	  64u
#define FINAL	  (POLLERR | POLLHUP | POLLNVAL)
#define NOT_ASKED 0u

struct fib_poll_entry {
	uint64_t token;
	uint64_t asked_at; /* the version of the set when it was last asked for */
	unsigned at;	   /* its place in fds, or NOT_ASKED */
};

int fib_poll_set_open(struct fib_poll_set *set)
{
	set->fds = calloc(ROOM, sizeof *set->fds);
	set->room = ROOM;
	set->n = 1;
	return set->fds ? 0 : -ENOMEM;
}

void fib_poll_set_close(struct fib_poll_set *set)
{
	free(set->entries);
	free(set->fds);
}

int fib_poll_question_open(struct fib_poll_question *q)
{
	q->fds = calloc(ROOM, sizeof *q->fds);
	q->room = ROOM;
	return q->fds ? 0 : -ENOMEM;
}

void fib_poll_question_close(struct fib_poll_question *q)
{
	free(q->fds);
}

/*
 * Make room for more than n elements of size bytes; new ones are zero. NULL: failed, the array is
 * unchanged.
 */
static void *grow(void *array, unsigned *room, unsigned n, size_t size)
{
	unsigned more = *room ? *room : ROOM;
	char *bigger;

	if (n < *room)
		return array;
	while (more <= n)
		more *= 2;
	bigger = realloc(array, more * size);
	if (!bigger)
		return NULL;
	memset(bigger + *room * size, 0, (more - *room) * size);
	*room = more;
	return bigger;
}

int fib_poll_set_ask(struct fib_poll_set *set, int fd, uint64_t token, short events)
{
	struct fib_poll_entry *e =
		grow(set->entries, &set->entry_room, (unsigned)fd, sizeof *set->entries);
	struct pollfd *fds = grow(set->fds, &set->room, set->n, sizeof *set->fds);

	set->entries = e ? e : set->entries;
	set->fds = fds ? fds : set->fds;
	if (!e || !fds)
		return -ENOMEM;
	e += fd;
	if (e->at == NOT_ASKED) {
		e->at = set->n++;
		fds[e->at] = (struct pollfd){.fd = fd};
	}
	fds[e->at].events |= events;
	e->token = token;
	e->asked_at = ++set->version;
	return 0;
}

/* Remove e from fds; the last one takes its place. */
static void leave_out(struct fib_poll_set *set, struct fib_poll_entry *e)
{
	const unsigned at = e->at;

	e->at = NOT_ASKED;
	if (at != --set->n) {
		set->fds[at] = set->fds[set->n];
		set->entries[set->fds[at].fd].at = at;
	}
	set->version++;
}

bool fib_poll_set_drop(struct fib_poll_set *set, int fd)
{
	if (fd < 0 || (unsigned)fd >= set->entry_room || set->entries[fd].at == NOT_ASKED)
		return false;
	leave_out(set, &set->entries[fd]);
	return true;
}

/* If memory is short, copy as many as fit: the others follow when some of these were reported. */
void fib_poll_set_copy(struct fib_poll_set *set, struct fib_poll_question *q, int own_fd)
{
	struct pollfd *bigger = NULL;

	if (set->n >= q->room)
		bigger = grow(q->fds, &q->room, set->n, sizeof *q->fds);
	if (bigger)
		q->fds = bigger;
	q->n = set->n < q->room ? set->n : q->room;
	memcpy(q->fds, set->fds, q->n * sizeof *q->fds);
	q->fds[0] = (struct pollfd){.fd = own_fd, .events = POLLIN};
	q->version = set->version;
}

/*
 * Add the plain names of the events, for callers that test only these. A waiter for a descriptor
 * that the program closed is woken too: it tries and gets the error.
 */
static short plain(short events)
{
	if (events & (POLLRDNORM | POLLRDBAND))
		events |= POLLIN;
	if (events & (POLLWRNORM | POLLWRBAND))
		events |= POLLOUT;
	if (events & POLLNVAL)
		events |= POLLERR;
	return events & FIB_POLL_REPORTED;
}

static int report(struct fib_poll_set *set, const struct pollfd *fd, uint64_t version,
		  struct fib_poll_event *ret)
{
	struct fib_poll_entry *e = &set->entries[fd->fd];

	if (e->at == NOT_ASKED || e->asked_at > version)
		return 0;
	ret->token = e->token;
	ret->events = plain(fd->revents);
	set->fds[e->at].events &= (short)~fd->revents;
	if (fd->revents & FINAL || !set->fds[e->at].events)
		leave_out(set, e);
	set->version++;
	return 1;
}

int fib_poll_set_report(struct fib_poll_set *set, struct fib_poll_question *q,
			struct fib_poll_event *events, int max)
{
	const unsigned others = q->n - 1;
	unsigned i, at = 0;
	int kept = 0;

	for (i = 0; i < others && kept < max; i++) {
		at = 1 + (q->turn + i) % others;
		if (q->fds[at].revents)
			kept += report(set, &q->fds[at], q->version, &events[kept]);
	}
	q->turn = at;
	return kept;
}
