/* SPDX-License-Identifier: MIT */
/*
 * descriptor.h - who waits for which descriptor
 */
#ifndef FIB_IO_DESCRIPTOR_H
#define FIB_IO_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/parker.h"
#include "poll/poller.h"

/* Which descriptor it was, and how many edges had been seen on each side, when somebody began to try. */
struct fib_look {
	uint32_t generation;
	uint32_t edges[2];
	uint32_t drained; /* it was read empty, and no edge has come since: to read is -EAGAIN */
};

/* Look before trying; again before each retry. */
void fib_descriptor_look(int fd, struct fib_look *ret);

/* The same for who only reads: for waits without POLLOUT. */
void fib_descriptor_look_to_read(int fd, struct fib_look *ret);

/* After the look fd gave less than was asked of it. */
void fib_descriptor_gave_less(int fd, const struct fib_look *look);

/*
 * Wait until fd may have become ready for events (poll(2)'s bits) since `look`. From a fiber or a thread.
 * Returns 0: look and try again; -ETIMEDOUT, -EBADF (closed meanwhile, or no descriptor), -EDEADLK, -ENOMEM.
 * It may return early.
 */
int fib_descriptor_wait(int fd, short events, const struct fib_look *look, int64_t deadline);

/*
 * The same for who reads bytes, size > 0. Of what is known to be drained *ret_n is what was received meanwhile, as
 * recv(2) or a negative errno, and that is what counts, whatever this returns; else *ret_n stays.
 */
int fib_descriptor_receive(int fd, void *buf, size_t size, const struct fib_look *look,
			   int64_t deadline, ssize_t *ret_n);

/* One who waits so. The rest is written by whoever decides the wait, before he makes its fiber run. */
struct fib_receiver {
	struct fib_waiter waiter;
	void *buf;	     /* I */
	size_t size;	     /* I */
	uint32_t generation; /* I: of what he waits for */
	ssize_t n;
};

/* Wait for a time (ns) in which nothing of fd is waited for, but its end: where there is something to do and no means.
 * Returns 0: try again; and as fib_descriptor_wait(). */
int fib_descriptor_rest(int fd, const struct fib_look *look, int64_t time, int64_t deadline);

/*
 * For a wait that stands in several queues: take two places of it, one for each side, unless something has
 * happened since `look`. w: two unlinked copies of an armed waiter; one that blocks is only told of edges that somebody else
 * waits for, and of the descriptor's end. 0: joined, leave when
 * the wait is over; -EAGAIN: look again; -EPERM: nothing to wait for, it is always ready; -EBADF, -ENOMEM.
 */
int fib_descriptor_join(int fd, short events, const struct fib_look *look, struct fib_waiter w[2]);
void fib_descriptor_leave(int fd, short events, struct fib_waiter w[2]);

/* Have it noticed from now on when fd becomes another descriptor: 0, -ENOMEM, -EBADF. */
int fib_descriptor_notice(int fd);

/* Whether fd is still the descriptor that was looked at, as far as anybody has told. Any thread. */
bool fib_descriptor_same(int fd, const struct fib_look *look);

/* fd is a new descriptor: whatever was known under its number is of an earlier one. */
void fib_descriptor_opened(int fd);

/* fd is about to be closed: those who wait for it, or have looked at it, get -EBADF. */
void fib_descriptor_forget(int fd);

/* fd has been closed: those who have come since fib_descriptor_forget() look again. */
void fib_descriptor_closed(int fd);

/* A descriptor is ready: token and events as the poller gave them. */
void fib_descriptor_ready(uint64_t token, short events);

/* Before that: have the memory come that it will go through for some events. prefetch.c */
void fib_descriptor_prefetch(const struct fib_poll_event *events, int n);

#endif
