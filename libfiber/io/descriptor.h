/* SPDX-License-Identifier: MIT */
/*
 * descriptor.h - wait for descriptors
 */
#ifndef FIB_IO_DESCRIPTOR_H
#define FIB_IO_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/parker.h"
#include "poll/poller.h"

/* The generation of a descriptor and the edges counted on each side when a caller began to try. */
struct fib_look {
	uint32_t generation;
	uint32_t edges[2];
	uint32_t drained; /* it was read empty, no edge since: a read would return -EAGAIN */
	uint32_t plain;	  /* for fib_os_read_as(), fib_os_write_as() */
	uint32_t empty;	  /* for empty.h; 0: nothing is known */
};

/* Take a look before trying an operation, and again before each retry. */
void fib_descriptor_look(int fd, struct fib_look *ret);

/* The same for callers that only read and wait without POLLOUT. */
void fib_descriptor_look_to_read(int fd, struct fib_look *ret);

/* The same hint without a look; record another one. */
bool fib_descriptor_plain(int fd);
void fib_descriptor_set_plain(int fd, bool plain);

/* Report that a read after the look returned fewer bytes than it asked for. */
void fib_descriptor_gave_less(int fd, const struct fib_look *look);

/*
 * Wait until fd may have become ready for events (poll(2) bits) since `look`. For fibers and
 * threads. Returns 0: look and try again; -ETIMEDOUT, -EBADF (closed meanwhile, or no descriptor),
 * -EDEADLK, -ENOMEM. It may return 0 early.
 */
int fib_descriptor_wait(int fd, short events, const struct fib_look *look, int64_t deadline);

/*
 * The same for a caller that reads bytes; size > 0. If fd was drained, *ret_n is what was received
 * for the caller meanwhile: the result of recv(2) or a negative errno. It then counts, whatever
 * this function returns. Otherwise *ret_n is left unchanged.
 */
int fib_descriptor_receive(int fd, void *buf, size_t size, const struct fib_look *look,
			   int64_t deadline, ssize_t *ret_n);

/*
 * The same for a caller that has not looked: the path of a server's request. False: fd is not drained,
 * or fib_descriptor_receive() has more to do; nothing has happened. True: it would have returned
 * *ret_rc.
 */
bool fib_descriptor_receive_drained(int fd, void *buf, size_t size, int64_t deadline,
				    ssize_t *ret_n, int *ret_rc);

/*
 * The waiter of fib_descriptor_receive(). n is written by the thread that decides the wait, before
 * it wakes the fiber.
 */
struct fib_receiver {
	struct fib_waiter waiter;
	void *buf;	     /* I */
	size_t size;	     /* I */
	uint32_t generation; /* I: of the descriptor it waits for */
	ssize_t n;
};

/*
 * Wait for `time` ns for nothing but the closing of fd, for operations that lack a resource for a
 * while. Returns 0: try again; or an error of fib_descriptor_wait().
 */
int fib_descriptor_rest(int fd, const struct fib_look *look, int64_t time, int64_t deadline);

/*
 * For a wait that joins several queues: join the queues of fd, one place for each side, unless
 * something has happened since `look`. w: two unlinked copies of an armed waiter. A waiter that
 * blocks its thread is woken when fd is closed, but only by edges that another waiter has asked the
 * poller for. Returns 0: joined, call leave when the wait is over; -EAGAIN: look again; -EPERM: the
 * poller cannot watch fd, which is always ready to read and to write; -EBADF; -ENOMEM.
 */
int fib_descriptor_join(int fd, short events, const struct fib_look *look, struct fib_waiter w[2]);
void fib_descriptor_leave(int fd, short events, struct fib_waiter w[2]);

/*
 * Make sure that from now on a change of fd to another descriptor is noticed: 0, -ENOMEM, -EBADF.
 */
int fib_descriptor_notice(int fd);

/*
 * Whether fd is still the descriptor that was looked at, as far as this library was informed. Any
 * thread.
 */
bool fib_descriptor_same(int fd, const struct fib_look *look);

/* fd is a new descriptor: drop what is known of an earlier one with this number. */
void fib_descriptor_opened(int fd);

/* fd is about to be closed: callers that wait for it, or have looked at it, get -EBADF. */
void fib_descriptor_forget(int fd);

/* fd has been closed: callers that joined since fib_descriptor_forget() look again. */
void fib_descriptor_closed(int fd);

/* A descriptor is ready: token and events as reported by the poller. */
void fib_descriptor_ready(uint64_t token, short events);

/*
 * Call before fib_descriptor_ready() for a batch of events: prefetch the memory it will touch. See
 * prefetch.c.
 */
void fib_descriptor_prefetch(const struct fib_poll_event *events, int n);

#endif
