/* SPDX-License-Identifier: MIT */
/* waiting.h - the number of waiters in a channel */
#ifndef UNIT_SYNC_WAITING_H
#define UNIT_SYNC_WAITING_H

#include "os/spin.h"
#include "queue.h"
#include "sync/chan.h"

/* Return the number of waiters on a side. A waiter that has just timed out may still be counted. */
static inline uint32_t waiting(struct fiber_chan *chan, enum fib_chan_side side)
{
	uint32_t length;

	fib_chan_lock(chan);
	length = fib_queue_length(&chan->sides[side]);
	fib_chan_unlock(chan);
	return length;
}

static inline void waiting_await(struct fiber_chan *chan, enum fib_chan_side side, uint32_t n)
{
	while (waiting(chan, side) != n)
		if (fiber_yield() < 0)
			sched_yield();
}

static inline struct fiber_chan *waiting_chan(size_t capacity)
{
	struct fiber_chan *chan = NULL;

	assert_int_equal(fiber_chan_new(sizeof(int), capacity, &chan), 0);
	return chan;
}

static inline int send_now(struct fiber_chan *chan, int value)
{
	return fiber_chan_send(chan, &value, 0);
}

/* Receive without waiting: return the element, or a negative error. */
static inline int recv_now(struct fiber_chan *chan)
{
	int value = -1, rc = fiber_chan_recv(chan, &value, 0);

	return rc < 0 ? rc : value;
}

#endif
