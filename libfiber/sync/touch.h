/* SPDX-License-Identifier: MIT */
/*
 * touch.h - which fiber was the only one that ever signalled an object
 *
 * A fiber that waits for a signal from a fiber that has ended waits in vain. So a condition, a
 * semaphore and an event record in waiters.own who signals, posts or sets them: 0: none yet; the
 * low half of a fiber's id: only this fiber; FIB_TOUCHER_SEVERAL: several fibers, or a thread. The
 * layout note says where that is, and the tools draw the conclusion (inspect/why/rule_signal.c).
 *
 * The word is in the cache line of the queue's lock, is written under it, and only when it changes:
 * at most twice.
 */
#ifndef FIB_SYNC_TOUCH_H
#define FIB_SYNC_TOUCH_H

#include <stdint.h>

#include <fiber/sync.h>

#include "base/compiler.h"
#include "layout/layout.h"
#include "sched/sched.h"

/* The caller signals the object that has the queue. After fib_queue_lock() or fib_queue_enter(). */
static inline void fib_touch(struct fiber_wait_queue *q)
{
	const uint32_t was = q->own;
	const struct fib_carrier *c;
	uint32_t me;

	if (was == FIB_TOUCHER_SEVERAL)
		return;
	c = fib_carrier_self();
	me = c && c->current ? (uint32_t)c->current->id : FIB_TOUCHER_SEVERAL;
	if (fib_unlikely(me != was))
		q->own = was ? FIB_TOUCHER_SEVERAL : me;
}

#endif
