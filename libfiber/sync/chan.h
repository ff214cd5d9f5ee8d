/* SPDX-License-Identifier: MIT */
/*
 * chan.h - the inside of a channel, for chan.c and select.c
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

/* Complements of addresses: chan_list.c. */
struct fib_chan_link {
	uintptr_t next, prev;
};

/* I set at creation, then read-only · A any thread, atomic · L under lock */
struct fiber_chan {
	char name[32];	       /* first, as in every object */
	_Atomic uint32_t lock; /* guards both queues too: their own locks are not used */
	_Atomic uint32_t refs; /* A */
	_Atomic bool closed;   /* L writes, A reads: fib_chan_promising() */
	struct fiber_wait_queue
		sides[2];	    /* L: waiting senders, waiting receivers; A reads the heads */
	struct fib_chan_link link;  /* L its shard's lock; with a buffer: chan_list.c */
	size_t elem_size, capacity; /* I */
	size_t first;		    /* L: a ring in elems */
	_Atomic size_t count;	    /* L writes, A reads */
	unsigned char elems[];	    /* L */
};

/*
 * A place in a channel's queue, on the waiter's stack. The partner that claims the wait does the
 * waiter's copy and writes the outcome here, all under the channel's lock.
 */
struct fib_chan_waiter {
	struct fib_waiter w;
	void *elem;  /* I: where to copy to or from */
	int result;  /* L: 0 or -EPIPE */
	bool served; /* L: the wait was claimed through this place */
};

static inline void fib_chan_lock(struct fiber_chan *chan)
{
	fib_sole_check();
	fib_spin_lock(&chan->lock);
}

static inline void fib_chan_unlock(struct fiber_chan *chan)
{
	fib_spin_unlock(&chan->lock);
}

/*
 * Returns whether a call on that side would not have to wait. Exact under the lock; without it the
 * answer may be out of date. Without a branch, because the answer is hard to predict.
 */
static inline bool fib_chan_promising(const struct fiber_chan *chan, enum fib_chan_side side)
{
	size_t count = fib_load(&chan->count);
	bool room = side == FIB_CHAN_SEND ? count < chan->capacity : count != 0;

	return (int)room | (int)fib_load(&chan->closed) |
	       (int)fib_queue_occupied(&chan->sides[!side]);
}

/*
 * Send or receive if that needs no waiting. True: done, and *ret is 0 or -EPIPE. A send only reads
 * elem.
 */
bool fib_chan_try(struct fiber_chan *chan, enum fib_chan_side side, void *elem, int *ret);

/*
 * The same with the channel's lock held. True: if ret_wake->word is set, wake it after the unlock.
 */
bool fib_chan_try_locked(struct fiber_chan *chan, enum fib_chan_side side, void *elem, int *ret,
			 struct fib_wake *ret_wake);

/*
 * Join the queue. False: the operation can be done now, and nothing was changed. The caller's own
 * places on the other side are ignored. me->w is armed, me->elem is set.
 */
bool fib_chan_join(struct fiber_chan *chan, enum fib_chan_side side, struct fib_chan_waiter *me);

/*
 * Leave the queue after the wait. True: the wait was claimed through this place, with me->result.
 */
bool fib_chan_leave(struct fiber_chan *chan, enum fib_chan_side side, struct fib_chan_waiter *me);

#endif
