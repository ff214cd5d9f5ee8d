/* SPDX-License-Identifier: MIT */
/*
 * order.c - follow which calls of libfiber happen before which
 *
 * A release adds the clock of the fiber to the clock of an object; an acquire adds that of the
 * object to the fiber's. A fiber's step advances after each release, so that what it does next is
 * not taken for released.
 *
 * A read-write lock has a clock for writers, at its address, and one for readers, at the next byte:
 * a reader acquires the writers' alone, so readers do not order each other.
 *
 * Channels follow the memory model of Go: the k-th send happens before the k-th receive is done,
 * and the k-th receive of a channel of C elements before the send number k + C is done.
 */
#include "order.h"

#include "core/parker.h"
#include "memory/actors.h"
#include "memory/arena.h"
#include "memory/shadow.h"
#include "core/record.h"

void fib_order_release(const void *object)
{
	struct fib_actor *me = fib_actor_self();

	if (!me)
		return;
	fib_clock_join(&fib_shadow_sync(object)->released, me->clock);
	fib_actor_advance(me);
}

void fib_order_acquire(const void *object)
{
	struct fib_actor *me = fib_actor_self();

	if (me)
		fib_clock_join(&me->clock, fib_shadow_sync(object)->released);
}

void fib_order_wake(const struct fib_waiter *w)
{
	struct fib_actor *me = fib_actor_self(), *woken = fib_actor_of(w->parker->fiber);

	if (!me || !woken || me == woken)
		return;
	fib_clock_join(&woken->clock, me->clock);
	fib_actor_advance(me);
}

static const void *readers_of(const void *lock)
{
	return (const char *)lock + 1;
}

void fib_order_lock(const void *lock, const void *at, bool writes)
{
	struct fib_actor *me = fib_actor_self();
	struct fib_held *held;

	if (!me)
		return;
	fib_order_acquire(lock);
	if (writes)
		fib_order_acquire(readers_of(lock));
	held = fib_arena_take(sizeof *held);
	*held = (struct fib_held){lock, at, writes, me->held};
	me->held = held;
}

/* The list without its first entry for the lock. The shared part stays as it is. */
static const struct fib_held *without(const struct fib_held *list, const void *lock)
{
	struct fib_held *copy;
	const struct fib_held *rest;

	if (!list)
		return NULL;
	if (list->lock == lock)
		return list->more;
	rest = without(list->more, lock);
	if (rest == list->more)
		return list;
	copy = fib_arena_take(sizeof *copy);
	*copy = *list;
	copy->more = rest;
	return copy;
}

void fib_order_unlock(const void *lock, bool writes)
{
	struct fib_actor *me = fib_actor_self();

	if (!me)
		return;
	fib_order_release(writes ? lock : readers_of(lock));
	me->held = without(me->held, lock);
}

static void forget(const void *object)
{
	struct fib_sync *sync = fib_shadow_sync(object);

	sync->released = NULL;
	sync->queue = NULL;
}

void fib_order_spawn(const struct fiber *fiber)
{
	struct fib_actor *me = fib_actor_self();

	if (!me && !fib_actor_of(fiber))
		return; /* no schedule */
	/* Its record had another fiber before. */
	forget(fiber);
	forget(&fiber->token);
	forget(&fiber->cancelled);
	fib_actor_born(fiber, me);
	if (me)
		fib_actor_advance(me);
}

void fib_order_begin(const struct fiber *fiber)
{
	const struct fib_actor *actor = fib_actor_of(fiber);

	if (actor)
		fib_shadow_renew((uintptr_t)fiber->stack.low, fiber->stack.size, actor->number);
}

void fib_order_end(const struct fiber *fiber, const void *runtime)
{
	const struct fib_actor *actor = fib_actor_self();

	fib_order_release(fiber);
	fib_order_release(runtime);
	if (actor)
		fib_actor_exits(actor);
}

/* -- channels: the k-th element is received by the k-th receive -- */

struct passed {
	struct passed *more;
	struct fib_clock *clock;
	struct fib_actor *actor;
};

struct fifo {
	struct passed *first, *last;
};

struct fib_queue_order {
	struct fifo sends, receives; /* not matched yet */
	size_t room;		     /* elements that can be sent without a receive */
};

static void put(struct fifo *fifo, struct fib_actor *actor)
{
	struct passed *p = fib_arena_take(sizeof *p);

	*p = (struct passed){NULL, fib_clock_copy(actor ? actor->clock : NULL), actor};
	if (fifo->last)
		fifo->last->more = p;
	else
		fifo->first = p;
	fifo->last = p;
}

static struct passed *get(struct fifo *fifo)
{
	struct passed *p = fifo->first;

	if (!p)
		return NULL;
	fifo->first = p->more;
	if (!p->more)
		fifo->last = NULL;
	return p;
}

static struct fib_queue_order *queue_of(const void *chan, size_t capacity)
{
	struct fib_sync *sync = fib_shadow_sync(chan);

	if (!sync->queue) {
		sync->queue = fib_arena_take(sizeof *sync->queue);
		*sync->queue = (struct fib_queue_order){.room = capacity};
	}
	return sync->queue;
}

static struct fib_actor *actor_at(const struct fib_waiter *w)
{
	return w ? fib_actor_of(w->parker->fiber) : fib_actor_self();
}

static void learn(struct fib_actor *actor, const struct fib_clock *clock)
{
	if (actor)
		fib_clock_join(&actor->clock, clock);
}

static void advance(struct fib_actor *actor)
{
	if (actor)
		fib_actor_advance(actor);
}

static bool follows(const struct fib_waiter *w)
{
	return fib_actor_self() || (w && fib_actor_of(w->parker->fiber));
}

void fib_order_send(const void *chan, size_t capacity, const struct fib_waiter *w)
{
	struct fib_actor *sender = actor_at(w);
	struct fib_queue_order *q;
	struct passed *receive;

	if (!follows(w))
		return;
	q = queue_of(chan, capacity);
	if (q->room) {
		q->room--;
	} else if ((receive = capacity ? get(&q->receives) : NULL)) {
		learn(sender, receive->clock);
	}
	put(&q->sends, sender);
	advance(sender);
}

void fib_order_receive(const void *chan, size_t capacity, const struct fib_waiter *w)
{
	struct fib_actor *receiver = actor_at(w);
	struct fib_queue_order *q;
	struct passed *send;

	if (!follows(w))
		return;
	q = queue_of(chan, capacity);
	send = get(&q->sends);
	/* Without a buffer a send completes after its receive. */
	if (!capacity && send && receiver)
		learn(send->actor, receiver->clock);
	else if (capacity)
		put(&q->receives, receiver);
	advance(receiver);
	if (send)
		learn(receiver, send->clock);
}
