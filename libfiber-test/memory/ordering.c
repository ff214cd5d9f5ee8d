/* SPDX-License-Identifier: MIT */
/*
 * ordering.c - C11 7.17.3: the order of atomic accesses and fences
 *
 * An atomic variable has the clock that a load which reads its present value acquires: that of the
 * release sequence headed by the last releasing store. A relaxed store by another fiber ends the
 * sequence, one by the same fiber continues it, and so does each read-modify-write.
 *
 * A release fence makes the relaxed stores after it release what was done before the fence. A
 * relaxed load acquires nothing until an acquire fence follows it.
 */
#include "memory/ordering.h"

#include <stdbool.h>
#include <stddef.h>

#include "memory/actors.h"
#include "memory/shadow.h"

static bool acquires(int order)
{
	return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME ||
	       order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static bool releases(int order)
{
	return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static struct fib_sync *sync_of(const volatile void *at)
{
	return fib_shadow_sync((const void *)(uintptr_t)at);
}

static void load(struct fib_actor *me, const struct fib_sync *sync, int order)
{
	fib_clock_join(acquires(order) ? &me->clock : &me->loads, sync->released);
}

/* What the fiber publishes by a store. */
static const struct fib_clock *published(const struct fib_actor *me, int order)
{
	return releases(order) ? me->clock : me->fence;
}

static void advance_after(struct fib_actor *me, int order)
{
	if (releases(order))
		fib_actor_advance(me);
}

void fib_ordering_load(struct fib_actor *me, const volatile void *at, int order)
{
	if (me)
		load(me, sync_of(at), order);
}

void fib_ordering_store(struct fib_actor *me, const volatile void *at, int order)
{
	struct fib_sync *sync;

	if (!me)
		return;
	sync = sync_of(at);
	if (releases(order) || sync->head != me->number)
		sync->released = NULL;
	sync->head = me->number;
	fib_clock_join(&sync->released, published(me, order));
	advance_after(me, order);
}

void fib_ordering_update(struct fib_actor *me, const volatile void *at, int order)
{
	struct fib_sync *sync;

	if (!me)
		return;
	sync = sync_of(at);
	load(me, sync, order);
	if (releases(order))
		sync->head = me->number;
	fib_clock_join(&sync->released, published(me, order));
	advance_after(me, order);
}

void fib_ordering_fence(struct fib_actor *me, int order)
{
	if (!me)
		return;
	if (acquires(order))
		fib_clock_join(&me->clock, me->loads);
	if (!releases(order))
		return;
	me->fence = fib_clock_copy(me->clock);
	fib_actor_advance(me);
}
