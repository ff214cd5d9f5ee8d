/* SPDX-License-Identifier: MIT */
/*
 * poller.h - waiting for descriptors
 *
 * A poller speaks tokens and knows no fiber. Each is one file that exports a struct fib_poller_ops;
 * which one runs is chosen when a runtime starts.
 */
#ifndef FIB_POLL_POLLER_H
#define FIB_POLL_POLLER_H

#include <stdint.h>

struct fib_poller;

struct fib_ring;

struct fib_poll_event {
	uint64_t token;
	/* poll(2)'s bits; 0: the token is the address of a struct fib_ring_op that has ended */
	short events;
};

struct fib_poller_ops {
	const char *name;
	/* 0 and *ret, or a negative errno. */
	int (*open)(struct fib_poller **ret);
	void (*close)(struct fib_poller *);
	/*
	 * Watch fd for reading and writing, edge-triggered, until it is forgotten or closed. Watching
	 * it again with a new token replaces the old one, and tells once more what is ready. 0; -EPERM for a
	 * descriptor that is always ready (a regular file); other negative errnos. Any thread.
	 */
	int (*watch)(struct fib_poller *, int fd, uint64_t token);
	/*
	 * NULL for a poller that tells every edge of what is watched. The others tell of an event once, and again only
	 * after it was wanted again: then this is called instead of `watch`, each time before somebody waits
	 * for events (poll(2)'s bits) of fd. What is there is told, also if it was before; at least these events are,
	 * and errors and hang-ups. Returns what `watch` does. Any thread.
	 */
	int (*want)(struct fib_poller *, int fd, uint64_t token, short events);
	/* Stop watching; events under way may still come. Before the descriptor is closed: a poller may keep its file
	 * open. Any thread. */
	void (*forget)(struct fib_poller *, int fd);
	/* Wait until something is ready, `wake` is called or the absolute deadline (ns; 0: do not
	 * wait, INT64_MAX: none) has passed. The number of events written, or a negative errno. One thread at a
	 * time. */
	int (*wait)(struct fib_poller *, struct fib_poll_event *events, int max, int64_t deadline);
	/* End a wait under way, or the next one. Any thread. */
	void (*wake)(struct fib_poller *);
	/* NULL, or: from now on somebody waits for `descriptor`. Once. 0, or a negative errno. */
	int (*lend)(struct fib_poller *);
	/* A descriptor that poll(2) finds readable as long as `wait` would return at once, or soon after that has
	 * begun. The poller's own. Any thread. */
	int (*descriptor)(struct fib_poller *);
	/* NULL, or a poller that is a ring for other operations too, which `wait` gives out when they have ended.
	 * Any thread. */
	struct fib_ring *(*ring)(struct fib_poller *);
};

/* Every poller begins with this. */
struct fib_poller {
	const struct fib_poller_ops *ops;
};

extern const struct fib_poller_ops fib_poller_epoll, fib_poller_poll;
/* Opening it gives -ENOSYS, or -EPERM, where there is no io_uring. */
extern const struct fib_poller_ops fib_poller_uring;

#endif
