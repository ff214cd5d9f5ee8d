/* SPDX-License-Identifier: MIT */
/*
 * chan.h - a channel from the inside, for those who wait in it: chan.c and select.c
 */
#ifndef FIB_SYNC_CHAN_H
#define FIB_SYNC_CHAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fiber/chan.h>
#include <fiber/sync.h>

#include "wait/wait.h"
#include "wait/wait_queue.h"

enum fib_chan_side { FIB_CHAN_SEND, FIB_CHAN_RECV };

/* I set when it is made, then read-only · A any thread, atomic · L under lock */
struct fiber_chan {
	char name[32];	       /* first, as in every object */
	_Atomic uint32_t lock; /* of both queues too: their own are not used */
	_Atomic uint32_t refs; /* A */
	_Atomic bool closed;   /* L writes, A reads: fib_chan_promising() */
	struct fiber_wait_queue
		sides[2];	    /* L: who waits to send, to receive; A reads their heads */
	size_t elem_size, capacity; /* I */
	size_t first;		    /* L: a ring in elems */
	_Atomic size_t count;	    /* L writes, A reads */
	unsigned char elems[];	    /* L */
};

/*
 * One place in a channel's queue, on the waiter's stack. Whoever claims the wait does what it waits for in
 * its name and says so here, all under the channel's lock.
 */
struct fib_chan_waiter {
	struct fib_waiter w;
	void *elem;  /* I: where to copy to or from */
	int result;  /* L: 0 or -EPIPE */
	bool served; /* L: it was this place that the wait ended in */
};

/* Whether a call on that side would not have to wait: under the lock for certain, else perhaps no longer. Without a
 * branch, since who plays with whom is hard to predict. */
static inline bool fib_chan_promising(const struct fiber_chan *chan, enum fib_chan_side side)
{
	size_t count = fib_load(&chan->count);
	bool room = side == FIB_CHAN_SEND ? count < chan->capacity : count != 0;

	return room | fib_load(&chan->closed) | fib_queue_occupied(&chan->sides[!side]);
}

/* Send or receive if that needs no waiting. True: done, and *ret is 0 or -EPIPE. elem is only read by
 * a send. */
bool fib_chan_try(struct fiber_chan *chan, enum fib_chan_side side, void *elem, int *ret);

/* The same under the channel's lock. When true, *ret_wake must be woken after the unlock if it has a word. */
bool fib_chan_try_locked(struct fiber_chan *chan, enum fib_chan_side side, void *elem, int *ret,
			 struct fib_wake *ret_wake);

/*
 * Join the queue, unless what we want can be had now: then false and nothing is changed. Places of the
 * caller's own wait on the other side do not count. me->w is armed, me->elem set.
 */
bool fib_chan_join(struct fiber_chan *chan, enum fib_chan_side side, struct fib_chan_waiter *me);

/* Leave the queue, when the wait is over. True: the wait ended here, with me->result. */
bool fib_chan_leave(struct fiber_chan *chan, enum fib_chan_side side, struct fib_chan_waiter *me);

#endif
