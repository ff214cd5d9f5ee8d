/* SPDX-License-Identifier: MIT */
/*
 * select.h - how a select waits for descriptors
 *
 * Descriptors are io's, above us, so io says how. An edge of a descriptor is a hint and nothing that could be lost:
 * whoever is woken by one looks again.
 */
#ifndef FIB_SYNC_SELECT_H
#define FIB_SYNC_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/parker.h"

/* A descriptor case while it waits: a place on each side. Zeroed at the start. */
struct fib_select_fd_place {
	struct fib_waiter w[2]; /* copies of the wait, made before join */
	bool looked;		/* the rest is io's: what it saw when it looked last */
	uint32_t generation;
	uint32_t edges[2];
};

struct fib_fd_ops {
	/* poll(2)'s bits that are set now, 0 when none is, or a negative error. Begins a look. */
	int (*look)(int fd, short events, struct fib_select_fd_place *place);
	/* Take the places, unless something has happened since the look: 0; -EAGAIN: look again; or another
	 * error. Who blocks is told when the descriptor is closed, of readiness perhaps. */
	int (*join)(int fd, short events, struct fib_select_fd_place *place);
	/* Leave them, after a join that returned 0. */
	void (*leave)(int fd, short events, struct fib_select_fd_place *place);
};

/* Once before the first fiber runs, or again with the same. */
void fib_select_serve_fds(const struct fib_fd_ops *ops);

#endif
