/* SPDX-License-Identifier: MIT */
/*
 * chan.h - channels, and waiting for the first of several events
 *
 * A channel carries elements of one size from senders to receivers, in the order in which they were
 * sent. Each element is received once. Waiters are served first in, first out. A sender hands its
 * element directly to a waiting receiver.
 *
 * Every call works from a fiber, which parks, from a pinned fiber, which follows its runtime's
 * policy, and from a plain thread, which blocks. They may share a channel. Deadlines are absolute
 * nanoseconds on fiber_now()'s clock. No call is async-signal-safe.
 *
 * Waiting calls return -ETIMEDOUT past the deadline, -ECANCELED in a cancelled fiber, -EDEADLK in a
 * pinned fiber under FIBER_PINNED_ERROR and -ENOMEM without memory for the deadline. After any of
 * these errors nothing was sent and nothing was received.
 */
#ifndef FIBER_CHAN_H
#define FIBER_CHAN_H

#include <fiber/api.h>

FIBER_BEGIN_DECLS

struct fiber_chan;

/*
 * Make a channel for elements of elem_size bytes that holds up to capacity of them. With elem_size
 * 0 an element has no data. With capacity 0 a sender waits for its receiver. The caller owns one
 * reference. Returns 0 or -ENOMEM. fiber_object_name() gives the channel a name for the tools.
 */
FIBER_API int fiber_chan_new(size_t elem_size, size_t capacity, struct fiber_chan **ret);

/* Take another reference to the channel and return the channel. A caller of any function of a
 * channel must hold a reference until that call has returned. */
FIBER_API struct fiber_chan *fiber_chan_ref(struct fiber_chan *chan);

/* Release a reference. The last release frees the channel and the elements in it. The channel need
 * not be closed. NULL is allowed. */
FIBER_API void fiber_chan_unref(struct fiber_chan *chan);

/*
 * Send a copy of *elem. Wait until there is room or, with capacity 0, until there is a receiver.
 * elem may be NULL when elem_size is 0. Returns 0, or -EPIPE when the channel is closed or gets
 * closed during the wait: then the element is not received.
 */
FIBER_API int fiber_chan_send(struct fiber_chan *chan, const void *elem, int64_t deadline);

/*
 * Receive into *elem. Wait until there is an element. With elem NULL the element is discarded.
 * Returns 0, or -EPIPE when the channel is closed and all its elements have been received.
 */
FIBER_API int fiber_chan_recv(struct fiber_chan *chan, void *elem, int64_t deadline);

/*
 * Close the channel: nothing can be sent any more, but the elements in it can still be received.
 * All waiters of the channel wake with -EPIPE. Never waits. Returns 0, or -EPIPE when the channel
 * was already closed.
 */
FIBER_API int fiber_chan_close(struct fiber_chan *chan);

/* Return the number of elements in the channel, 0 to capacity: sent and not yet received. It is
 * always 0 with capacity 0. The number may change at any time. From a fiber or a thread. Never
 * waits. */
FIBER_API size_t fiber_chan_length(struct fiber_chan *chan);

enum fiber_select_op {
	FIBER_SELECT_SEND,  /* send *elem into chan */
	FIBER_SELECT_RECV,  /* receive from chan into *elem; NULL: discard */
	FIBER_SELECT_TIMER, /* the time `at` has come */
	FIBER_SELECT_FD,    /* fd is ready for one of events; it is not read or written */
};

struct fiber_select_case {
	enum fiber_select_op op;
	int result;		 /* written in the case that fired: 0, or see below */
	struct fiber_chan *chan; /* NULL: this case never fires */
	void *elem;		 /* only read by a send */
	int64_t at;		 /* ns on fiber_now()'s clock */
	int fd;
	short events; /* poll(2)'s bits; not 0 */
};

/*
 * Wait until one of n cases is ready and perform exactly one. Among several ready cases each is
 * equally likely. A case whose channel is closed is ready (for a receive: once the channel is also
 * empty) and gets result -EPIPE. The same channel may be in several cases; a select never sends to
 * itself.
 *
 * The result of a descriptor's case is the set of poll(2) bits that are ready, or a negative error:
 * -EBADF when the descriptor is closed or gets closed. A plain thread and a pinned fiber wait for
 * descriptors in poll(2), on the given descriptors and one of the library's own. Before the first
 * runtime has started, closing a descriptor does not wake such a thread.
 *
 * With a deadline in the past the call does not wait. It then returns -ETIMEDOUT only if there was
 * a moment during the call at which no case with a channel or a timer was ready. Descriptors are
 * checked once, one after another, not at that same moment.
 *
 * Returns the index of the case that fired; -ETIMEDOUT when the deadline passed first; -EINVAL for
 * no cases, more than INT_MAX cases, an unknown op or no events; -ENOMEM; -EMFILE or -ENFILE when a
 * plain thread or a pinned fiber has to wait for a descriptor and the library's own cannot be
 * opened; and the errors of waiting calls above. After an error no case was performed.
 */
FIBER_API int fiber_select(struct fiber_select_case *cases, size_t n, int64_t deadline);

FIBER_END_DECLS

#endif
