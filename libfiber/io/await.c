/* SPDX-License-Identifier: MIT */
/*
 * await.c - descriptor cases of a select
 *
 * As everywhere in io/: note the edges, try, and wait only if no edge has come since. The try here
 * is poll(2) with no timeout, because a select only asks whether a descriptor is ready. A
 * descriptor that was closed since the first look counts as closed, even if its number is in use
 * again.
 */
#include "io/await.h"

#include <errno.h>
#include <poll.h>

#include "io/descriptor.h"
#include "os/os.h"

static int look(int fd, short events, struct fib_select_fd_place *place)
{
	struct pollfd p = {.fd = fd, .events = events};
	struct fib_look now;
	int n;

	/* poll(2) ignores negative descriptors. */
	if (fd < 0)
		return -EBADF;
	fib_descriptor_look(fd, &now);
	if (place->looked && place->generation != now.generation)
		return -EBADF;
	place->looked = true;
	place->generation = now.generation;
	place->edges[0] = now.edges[0];
	place->edges[1] = now.edges[1];
	n = fib_os_poll(&p, 1, 0);
	if (n <= 0)
		return n == -ETIMEDOUT ? 0 : n;
	return p.revents & POLLNVAL ? -EBADF : p.revents;
}

static int join(int fd, short events, struct fib_select_fd_place *place)
{
	const struct fib_look then = {.generation = place->generation,
				      .edges = {place->edges[0], place->edges[1]}};

	return fib_descriptor_join(fd, events, &then, place->w);
}

static void leave(int fd, short events, struct fib_select_fd_place *place)
{
	fib_descriptor_leave(fd, events, place->w);
}

const struct fib_fd_ops fib_await_ops = {look, join, leave};
