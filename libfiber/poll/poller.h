/* SPDX-License-Identifier: MIT */
/*
 * poller.h - the interface of a poller, which waits for descriptors
 *
 * A poller knows tokens and no fibers. Each poller is one file that exports a struct
 * fib_poller_ops; one is chosen when a runtime starts.
 */
#ifndef FIB_POLL_POLLER_H
#define FIB_POLL_POLLER_H

#include <stdint.h>

struct fib_poller;

struct fib_ring;

struct fib_poll_event {
	uint64_t token;
	/* poll(2) bits; 0: the token is the address of a struct fib_ring_op that has ended */
	short events;
};

struct fib_poller_ops {
	const char *name;
	/* 0 and *ret, or a negative errno. */
	int (*open)(struct fib_poller **ret);
	void (*close)(struct fib_poller *);
	/*
	 * Watch fd for reading and writing, edge-triggered, until it is forgotten or closed.
	 * Watching it again with a new token replaces the old one and reports again what is ready.
	 * 0; -EPERM: fd is always ready (a regular file); other negative errnos. Any thread.
	 */
	int (*watch)(struct fib_poller *, int fd, uint64_t token);
	/*
	 * The same for an fd that is probably watched already. 1: fd was not watched, so the number
	 * means another file than before. NULL: use `watch`; the poller cannot tell.
	 */
	int (*rewatch)(struct fib_poller *, int fd, uint64_t token);
	/*
	 * With `rewatch`: whether the file that fd means is watched under this number, without
	 * another effect. 0; 1: it was not, but is now, with that token; a negative errno: it was
	 * not, and is not. Any thread.
	 */
	int (*holds)(struct fib_poller *, int fd, uint64_t token);
	/*
	 * NULL for a poller that reports every edge of a watched descriptor. Other pollers report
	 * an event once, and again only after it was wanted again. For these, call `want` instead
	 * of `watch`, each time before a caller waits for events (poll(2) bits) of fd. It reports
	 * the events that are there, even if reported before: at least these events, errors and
	 * hang-ups. Returns what `watch` returns. Any thread.
	 */
	int (*want)(struct fib_poller *, int fd, uint64_t token, short events);
	/*
	 * Stop watching; events on their way may still come. Call before the descriptor is closed,
	 * because a poller may keep its file open. Any thread. 0; a negative errno: the poller has
	 * `rewatch`, and the file that fd means was not watched.
	 */
	int (*forget)(struct fib_poller *, int fd);
	/*
	 * Wait until a descriptor is ready, `wake` is called or the absolute deadline (ns; 0: do
	 * not wait, INT64_MAX: none) has passed. Returns the number of events written, or a
	 * negative errno. One thread at a time.
	 */
	int (*wait)(struct fib_poller *, struct fib_poll_event *events, int max, int64_t deadline);
	/* End the current wait, or the next one. Any thread. */
	void (*wake)(struct fib_poller *);
	/*
	 * May be NULL. Prepare for a program that polls `descriptor` itself from now on. Once. 0,
	 * or a negative errno.
	 */
	int (*lend)(struct fib_poller *);
	/*
	 * A descriptor that poll(2) finds readable while `wait` would return at once, or soon
	 * after. It belongs to the poller. Any thread.
	 */
	int (*descriptor)(struct fib_poller *);
	/*
	 * NULL, or: the ring, for a poller that is a ring for other operations too. `wait` reports
	 * those that have ended. Any thread.
	 */
	struct fib_ring *(*ring)(struct fib_poller *);
};

/* The first member of every poller. */
struct fib_poller {
	const struct fib_poller_ops *ops;
};

extern const struct fib_poller_ops fib_poller_epoll, fib_poller_poll;
/* Opening it fails with -ENOSYS or -EPERM if there is no io_uring. */
extern const struct fib_poller_ops fib_poller_uring;
/* Only in a build with KQUEUE=kqueue. */
extern const struct fib_poller_ops fib_poller_kqueue;

#endif
