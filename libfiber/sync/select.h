/* SPDX-License-Identifier: MIT */
/*
 * select.h - how a select waits for descriptors
 *
 * sync/ is below io/, so io/ registers these operations. An edge of a descriptor is a hint: a
 * select woken by one looks again at all its cases.
 */
#ifndef FIB_SYNC_SELECT_H
#define FIB_SYNC_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/parker.h"

/* A descriptor case while it waits: one place per direction. Zeroed at the start. */
struct fib_select_fd_place {
	struct fib_waiter w[2]; /* copies of the wait, made before join */
	bool looked;		/* this and the rest are written by io: what the last look saw */
	uint32_t generation;
	uint32_t edges[2];
};

struct fib_fd_ops {
	/* Returns the poll(2) bits that are set now, 0 if none, or a negative error. */
	int (*look)(int fd, short events, struct fib_select_fd_place *place);
	/*
	 * Join the queues, unless something has happened since the look: 0; -EAGAIN: look again; or
	 * another error. A caller that blocks its thread is woken when the descriptor is closed;
	 * edges may not wake it.
	 */
	int (*join)(int fd, short events, struct fib_select_fd_place *place);
	/* Leave the queues, after a join that returned 0. */
	void (*leave)(int fd, short events, struct fib_select_fd_place *place);
};

/* Register ops. Call before the first fiber runs; later calls must pass the same ops. */
void fib_select_serve_fds(const struct fib_fd_ops *ops);

#endif
