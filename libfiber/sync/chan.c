/* SPDX-License-Identifier: MIT */
/*
 * chan.c - channels: pass elements from fiber to fiber
 *
 * One spin lock guards the ring of elements and two queues: waiting senders and waiting receivers.
 * A caller that finds a waiting partner also does the partner's half. A sender copies directly into
 * the receiver's variable. A receiver takes the element from the sender's variable, or moves it
 * into the ring if the ring held an older element.
 *
 * So an element is copied once or twice, a woken fiber need not look again, and a later caller
 * cannot take what was meant for a waiter. Two invariants hold while the lock is free: the ring is
 * empty if a receiver waits, and full if a sender waits. They make the order of elements the order
 * of sends.
 *
 * Race: a waiter may time out at that moment. The rule: claim first, copy after. One
 * compare-and-swap decides a wait (parker.h), and the deadline uses the same word. If the claim
 * fails, nothing was given or taken, and the next partner is tried. So a wait that timed out has
 * sent and received nothing.
 *
 * A partner whose claim succeeds stays until the copy is made. A fiber runs only after it is put
 * into a run queue, which is after the unlock. A thread may see the claim at once, so it takes the
 * lock before it leaves.
 *
 * A caller first checks without the lock whether it can proceed. The answer may be out of date and
 * only selects the path: a caller that expects to wait prepares its wait before it takes the lock,
 * and need not take the lock twice. If the answer turns out wrong under the lock, the caller starts
 * again. Another caller has made progress then, so this cannot go on for ever.
 */
#include "sync/chan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "base/check.h"
#include "base/list.h"
#include "choice.h"
#include "fault.h"
#include "order.h"
#include "os/spin.h"
#include "sync/chan_list.h"

_Static_assert(offsetof(struct fiber_chan, name) == 0, "fiber_object_name");

/* Then it is in the list. Its link does not tell: others write it when they leave the list. */
static bool has_buffer(const struct fiber_chan *chan)
{
	return chan->capacity && chan->elem_size;
}

int fiber_chan_new(size_t elem_size, size_t capacity, struct fiber_chan **ret)
{
	struct fiber_chan *chan;
	size_t size;

	fib_must_have(ret, "ret");
	if (__builtin_mul_overflow(elem_size, capacity, &size) ||
	    __builtin_add_overflow(size, sizeof *chan, &size))
		return -ENOMEM;
	chan = fib_fault(MEMORY) < 0 ? NULL : malloc(size);
	if (!chan)
		return -ENOMEM;
	memset(chan, 0, sizeof *chan);
	fib_store(&chan->refs, 1);
	chan->elem_size = elem_size;
	chan->capacity = capacity;
	if (has_buffer(chan))
		fib_chan_list_add(chan);
	*ret = chan;
	return 0;
}

struct fiber_chan *fiber_chan_ref(struct fiber_chan *chan)
{
	fib_choice(chan);
	fib_must_have(chan, "the channel");
	fib_add_relaxed(&chan->refs, 1);
	return chan;
}

void fiber_chan_unref(struct fiber_chan *chan)
{
	fib_choice(chan);
	/* Acquire and release: all uses of the channel happen before it is freed. */
	if (!chan || fib_sub(&chan->refs, 1) != 1)
		return;
	if (fib_queue_occupied(&chan->sides[FIB_CHAN_SEND]) ||
	    fib_queue_occupied(&chan->sides[FIB_CHAN_RECV]))
		fib_die("fiber_chan_unref: the last reference to channel \"%.31s\" is given back "
			"while %u wait to send and %u to receive",
			chan->name, fib_queue_length(&chan->sides[FIB_CHAN_SEND]),
			fib_queue_length(&chan->sides[FIB_CHAN_RECV]));
	if (has_buffer(chan))
		fib_chan_list_remove(chan);
	free(chan);
}

static inline void copy(struct fiber_chan *chan, void *to, const void *from)
{
	if (!to || !chan->elem_size)
		return;
	/* Most channels carry pointers: then no function is called. */
	if (chan->elem_size == sizeof(void *))
		memcpy(to, from, sizeof(void *));
	else
		memcpy(to, from, chan->elem_size);
}

static void *slot(struct fiber_chan *chan, size_t i)
{
	size_t at = chan->first + i;

	return chan->elems + (at < chan->capacity ? at : at - chan->capacity) * chan->elem_size;
}

static void put(struct fiber_chan *chan, const void *elem)
{
	copy(chan, slot(chan, fib_load(&chan->count)), elem);
	fib_store(&chan->count, fib_load(&chan->count) + 1);
}

/* Claim the first waiter of a side that can be claimed. NULL: there is none. */
static fib_always_inline struct fib_chan_waiter *claim(struct fiber_chan *chan,
						       enum fib_chan_side side, uint32_t section,
						       struct fib_wake *ret, int result)
{
	struct fiber_wait_queue *q = &chan->sides[side];
	struct fib_waiter *w;

	while ((w = fib_queue_first(q))) {
		struct fib_chan_waiter *other = fib_container(w, struct fib_chan_waiter, w);

		if (fib_queue_claim_first_in(q, section, ret)) {
			other->result = result;
			other->served = true;
			return other;
		}
		ret->word = NULL;
	}
	return NULL;
}

/* Filled under the lock; if wake.word is set, wake it after the unlock. */
struct outcome {
	uint32_t section; /* see sole.h */
	int result;
	struct fib_wake wake;
};

static fib_always_inline bool give(struct fiber_chan *chan, const void *elem, struct outcome *ret)
{
	struct fib_chan_waiter *receiver;

	if (fib_load(&chan->closed)) {
		fib_order_acquire(chan);
		ret->result = -EPIPE;
		return true;
	}
	receiver = claim(chan, FIB_CHAN_RECV, ret->section, &ret->wake, 0);
	if (receiver) {
		fib_order_send(chan, chan->capacity, NULL);
		fib_order_receive(chan, chan->capacity, &receiver->w);
		copy(chan, receiver->elem, elem);
	} else if (fib_load(&chan->count) < chan->capacity) {
		fib_order_send(chan, chan->capacity, NULL);
		put(chan, elem);
	} else {
		return false;
	}
	return true;
}

static fib_always_inline bool take(struct fiber_chan *chan, void *elem, struct outcome *ret)
{
	/* Senders that wait on a closed channel are about to be woken with -EPIPE. */
	struct fib_chan_waiter *sender =
		fib_load(&chan->closed) ? NULL
					: claim(chan, FIB_CHAN_SEND, ret->section, &ret->wake, 0);

	if (fib_load(&chan->count)) {
		fib_order_receive(chan, chan->capacity, NULL);
		copy(chan, elem, slot(chan, 0));
		chan->first = chan->first + 1 < chan->capacity ? chan->first + 1 : 0;
		fib_store(&chan->count, fib_load(&chan->count) - 1);
		if (sender) {
			fib_order_send(chan, chan->capacity, &sender->w);
			put(chan, sender->elem);
		}
	} else if (sender) {
		fib_order_send(chan, chan->capacity, &sender->w);
		fib_order_receive(chan, chan->capacity, NULL);
		copy(chan, elem, sender->elem);
	} else if (fib_load(&chan->closed)) {
		fib_order_acquire(chan);
		ret->result = -EPIPE;
	} else {
		return false;
	}
	return true;
}

static fib_always_inline bool now(struct fiber_chan *chan, enum fib_chan_side side, void *elem,
				  struct outcome *ret)
{
	ret->result = 0;
	ret->wake = (struct fib_wake){NULL, NULL};
	return side == FIB_CHAN_SEND ? give(chan, elem, ret) : take(chan, elem, ret);
}

static fib_always_inline bool try(struct fiber_chan *chan, enum fib_chan_side side, void *elem,
				  int *ret)
{
	struct outcome outcome;
	bool done;

	outcome.section = fib_sole_lock(&chan->lock);
	done = now(chan, side, elem, &outcome);
	fib_sole_unlock(&chan->lock, outcome.section);
	if (!done)
		return false;
	if (outcome.wake.word)
		fib_wake(&outcome.wake, true);
	*ret = outcome.result;
	return true;
}

bool fib_chan_try(struct fiber_chan *chan, enum fib_chan_side side, void *elem, int *ret)
{
	return try(chan, side, elem, ret);
}

bool fib_chan_try_locked(struct fiber_chan *chan, enum fib_chan_side side, void *elem, int *ret,
			 struct fib_wake *ret_wake)
{
	struct outcome outcome = {.section = 0};

	if (!fib_chan_promising(chan, side) || !now(chan, side, elem, &outcome))
		return false;
	*ret = outcome.result;
	*ret_wake = outcome.wake;
	return true;
}

static inline void append(struct fiber_chan *chan, enum fib_chan_side side,
			  struct fib_chan_waiter *me)
{
	me->served = false;
	me->result = 0;
	fib_queue_append(&chan->sides[side], &me->w);
}

/* Returns whether a side has a waiter other than me. */
static bool others_wait(struct fiber_chan *chan, enum fib_chan_side side,
			const struct fib_chan_waiter *me)
{
	struct fib_list *link;

	for (link = fib_load(&chan->sides[side].head); link; link = link->next)
		if (fib_container(link, struct fib_waiter, link)->parker != me->w.parker)
			return true;
	return false;
}

bool fib_chan_join(struct fiber_chan *chan, enum fib_chan_side side, struct fib_chan_waiter *me)
{
	bool ready;

	fib_chan_lock(chan);
	ready = fib_load(&chan->closed);
	if (side == FIB_CHAN_SEND)
		ready = ready || fib_load(&chan->count) < chan->capacity ||
			others_wait(chan, FIB_CHAN_RECV, me);
	else
		ready = ready || fib_load(&chan->count) || others_wait(chan, FIB_CHAN_SEND, me);
	if (!ready)
		append(chan, side, me);
	fib_chan_unlock(chan);
	return !ready;
}

bool fib_chan_leave(struct fiber_chan *chan, enum fib_chan_side side, struct fib_chan_waiter *me)
{
	bool served;

	fib_chan_lock(chan);
	fib_queue_remove(&chan->sides[side], &me->w);
	served = me->served;
	fib_chan_unlock(chan);
	return served;
}

/* For a caller whose check without the lock was wrong: start the public call again. */
static fib_always_inline int operate(struct fiber_chan *chan, enum fib_chan_side side, void *elem,
				     int64_t deadline)
{
	return side == FIB_CHAN_SEND ? fiber_chan_send(chan, elem, deadline)
				     : fiber_chan_recv(chan, elem, deadline);
}

static fib_always_inline int try_or_restart(struct fiber_chan *chan, enum fib_chan_side side,
					    void *elem, int64_t deadline)
{
	int result;

	return fib_likely(try(chan, side, elem, &result)) ? result
							  : operate(chan, side, elem, deadline);
}

/* Inlined, so that a backtrace shows which of the two public calls was made. */
static fib_always_inline int wait_in_channel(struct fiber_chan *chan, enum fib_chan_side side,
					     void *elem, int64_t deadline)
{
	struct fib_chan_waiter me;
	uint32_t section;
	int rc, result;

	rc = fib_wait_begin(&me.w, side == FIB_CHAN_SEND ? FIB_WAIT_CHAN_SEND : FIB_WAIT_CHAN_RECV,
			    chan, 0, deadline);
	if (fib_unlikely(rc < 0))
		return fib_chan_try(chan, side, elem, &result) ? result : rc;
	me.elem = elem;
	section = fib_sole_lock(&chan->lock);
	if (fib_unlikely(fib_chan_promising(chan, side))) {
		fib_sole_unlock(&chan->lock, section);
		fib_wait_abort(&me.w);
		return operate(chan, side, elem, deadline);
	}
	append(chan, side, &me);
	fib_sole_unlock(&chan->lock, section);
	/* A woken fiber runs after the unlock. A blocking waiter may return while its waker still
	 * copies (see above). */
	if (fib_likely(fib_wait_fast(&me.w, deadline, &rc)))
		return me.result;
	if (rc < 0 || me.w.parker->blocks)
		fib_chan_leave(chan, side, &me);
	return rc < 0 ? rc : me.result;
}

/* Out of line, so that they need not save the registers that a wait needs. */
static fib_noinline int send_now(struct fiber_chan *chan, void *elem, int64_t deadline)
{
	return try_or_restart(chan, FIB_CHAN_SEND, elem, deadline);
}

static fib_noinline int recv_now(struct fiber_chan *chan, void *elem, int64_t deadline)
{
	return try_or_restart(chan, FIB_CHAN_RECV, elem, deadline);
}

int fiber_chan_send(struct fiber_chan *chan, const void *elem, int64_t deadline)
{
	void *from = (void *)(uintptr_t)elem; /* only read */

	fib_choice(chan);
	return fib_chan_promising(chan, FIB_CHAN_SEND)
		       ? send_now(chan, from, deadline)
		       : wait_in_channel(chan, FIB_CHAN_SEND, from, deadline);
}

int fiber_chan_recv(struct fiber_chan *chan, void *elem, int64_t deadline)
{
	fib_choice(chan);
	return fib_chan_promising(chan, FIB_CHAN_RECV)
		       ? recv_now(chan, elem, deadline)
		       : wait_in_channel(chan, FIB_CHAN_RECV, elem, deadline);
}

size_t fiber_chan_length(struct fiber_chan *chan)
{
	fib_choice(chan);
	fib_must_have(chan, "the channel");
	return fib_load(&chan->count);
}

/* Wake one waiter with -EPIPE. False: there is none. */
static bool dismiss_one(struct fiber_chan *chan)
{
	struct fib_wake wake;
	bool claimed;

	fib_chan_lock(chan);
	claimed = claim(chan, FIB_CHAN_SEND, 0, &wake, -EPIPE) ||
		  claim(chan, FIB_CHAN_RECV, 0, &wake, -EPIPE);
	fib_chan_unlock(chan);
	if (claimed)
		fib_wake(&wake, false);
	return claimed;
}

int fiber_chan_close(struct fiber_chan *chan)
{
	bool closed;

	fib_choice(chan);
	fib_must_have(chan, "the channel");
	fib_chan_lock(chan);
	closed = fib_load(&chan->closed);
	fib_order_release(chan);
	fib_store(&chan->closed, true);
	fib_chan_unlock(chan);
	/* No caller joins a closed channel, so this loop ends. */
	while (dismiss_one(chan))
		;
	return closed ? -EPIPE : 0;
}
