/* SPDX-License-Identifier: MIT */
/*
 * chan.h - channels, and waiting for the first of several
 *
 * A channel carries elements of one size from those who send to those who receive, in the order
 * in which they were sent. Each element is received once. Every call works from a fiber, which
 * parks, from a pinned fiber, which follows its runtime's policy, and from a plain thread, which
 * blocks; they may share a channel. Waiters are served first in, first out, and a sender hands
 * its element to a waiting receiver directly. Deadlines are absolute nanoseconds on
 * fiber_now()'s clock. No call is async-signal-safe.
 *
 * Waiting calls return -ETIMEDOUT past the deadline, -ECANCELED in a cancelled fiber, -EDEADLK
 * in a pinned fiber under FIBER_PINNED_ERROR and -ENOMEM without memory for the deadline. On
 * each of these the element was not sent, and nothing was received.
 */
#ifndef FIBER_CHAN_H
#define FIBER_CHAN_H

#include <fiber/api.h>

FIBER_BEGIN_DECLS

struct fiber_chan;

/*
 * Make a channel for elements of elem_size bytes (0: it carries nothing but the fact) that holds
 * up to capacity of them; with capacity 0 a sender waits for its receiver. The caller owns one
 * reference. 0, -ENOMEM. fiber_object_name() names it for the tools.
 */
FIBER_API int fiber_chan_new(size_t elem_size, size_t capacity, struct fiber_chan **ret);

/* Another reference to the channel; returns it. Whoever calls any function of a channel must have
 * one until that call has returned. */
FIBER_API struct fiber_chan *fiber_chan_ref(struct fiber_chan *chan);

/* Give a reference back. With the last one the channel goes, and what was in it; it need not be
 * closed. NULL is fine. */
FIBER_API void fiber_chan_unref(struct fiber_chan *chan);

/*
 * Send a copy of *elem, waiting until there is room, or a receiver where the capacity is 0.
 * elem may be NULL where elem_size is 0. 0; -EPIPE when the channel is or becomes closed:
 * then nobody receives the element.
 */
FIBER_API int fiber_chan_send(struct fiber_chan *chan, const void *elem, int64_t deadline);

/*
 * Receive into *elem, waiting until there is something. elem NULL: receive and forget. 0; -EPIPE
 * when the channel is closed and everything that was in it has been received.
 */
FIBER_API int fiber_chan_recv(struct fiber_chan *chan, void *elem, int64_t deadline);

/*
 * Close the channel: nothing can be sent any more; what it holds can still be received.
 * Everybody who waits in it is woken with -EPIPE. Never waits. 0, or -EPIPE when it was closed
 * already.
 */
FIBER_API int fiber_chan_close(struct fiber_chan *chan);

/* How many elements the channel holds at this moment, up to its capacity: sent, not yet received. 0 for
 * a channel of capacity 0. A moment later it may be otherwise. From a fiber or a thread. Never
 * waits. */
FIBER_API size_t fiber_chan_length(struct fiber_chan *chan);

enum fiber_select_op {
	FIBER_SELECT_SEND,  /* send *elem into chan */
	FIBER_SELECT_RECV,  /* receive from chan into *elem; NULL: forget it */
	FIBER_SELECT_TIMER, /* the time `at` has come */
	FIBER_SELECT_FD,    /* fd is ready for one of events; it is not read or written */
};

struct fiber_select_case {
	enum fiber_select_op op;
	int result;		 /* written in the case that fired; 0, but see below */
	struct fiber_chan *chan; /* NULL: this case never fires */
	void *elem;		 /* only read by a send */
	int64_t at;		 /* ns on fiber_now()'s clock */
	int fd;
	short events; /* poll(2)'s bits; not 0 */
};

/*
 * Wait until one of n cases can be done, and do it: exactly one. Among several that are ready
 * each is as likely as the others. A case whose channel is closed is ready (a receive once the
 * channel is drained too) and reports -EPIPE in its result. The same channel may stand in
 * several cases; a select never sends to itself. A descriptor's case reports poll(2)'s bits that
 * are set, or a negative error: -EBADF when it is or becomes closed. A plain thread and a pinned
 * fiber wait for descriptors in poll(2), beside a descriptor of the library's own; until the
 * first runtime has started nobody wakes a thread there when one is closed.
 *
 * A deadline in the past means that it does not wait. It then returns -ETIMEDOUT only if there
 * was a moment during the call at which no case with a channel or a timer was ready. Descriptors
 * are looked at once, one after another, at moments of their own.
 *
 * Returns the index of the case that fired; -ETIMEDOUT when the deadline passed first; -EINVAL
 * without cases, with more than INT_MAX, an unknown op or no events; -ENOMEM; where a plain
 * thread or a pinned fiber has to wait and one case is a descriptor, -EMFILE and -ENFILE without
 * one for itself; and what waiting calls return. When it is not an index, no case was done.
 */
FIBER_API int fiber_select(struct fiber_select_case *cases, size_t n, int64_t deadline);

FIBER_END_DECLS

#endif
