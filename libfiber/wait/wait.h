/* SPDX-License-Identifier: MIT */
/*
 * wait.h - the one place where a fiber or a thread waits
 *
 * The way of every waiting call:
 *
 *	struct fib_waiter w;
 *	int rc = fib_wait_begin(&w, kind, object, arg, deadline);
 *	if (rc < 0)
 *		return rc;		     cancelled, policy, or a deadline in the past
 *	lock the queue
 *	if (what we want is there) {
 *		fib_wait_abort(&w);	     we do not wait after all
 *		take it, unlock, return 0;
 *	}
 *	append w, unlock
 *	return fib_queue_wait(queue, &w, deadline);
 *
 * Between begin and wait the caller is armed: a waker may decide the wait at any moment.
 */
#ifndef FIB_WAIT_WAIT_H
#define FIB_WAIT_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include <fiber/time.h>

#include "fault.h"
#include "core/parker.h"
#include "core/record.h"
#include "core/registry.h"
#include "layout/layout.h"
#include "order.h"
#include "sched/sched.h"
#include "wait/cancel.h"

/*
 * Prepare the calling fiber or thread to wait. object and arg go into the wait record (layout.h).
 * deadline: ns, see time.h. Returns 0; -ECANCELED in a cancelled fiber; -ETIMEDOUT for a deadline
 * in the past; -EDEADLK in a pinned fiber under FIBER_PINNED_ERROR. On an error nothing is armed.
 */
static inline int fib_wait_begin(struct fib_waiter *w, enum fib_wait_kind kind, const void *object,
				 uint64_t arg, int64_t deadline);

/*
 * fib_wait_begin(), but a plain thread sleeps on own, which may outlive the wait and keeps its
 * tickets.
 */
int fib_wait_begin_at(struct fib_waiter *w, struct fib_parker *own, enum fib_wait_kind kind,
		      const void *object, uint64_t arg, int64_t deadline);

/* fib_wait_begin() for a wait that cannot be cancelled. */
int fib_wait_begin_uncancellable(struct fib_waiter *w, enum fib_wait_kind kind, const void *object,
				 uint64_t arg, int64_t deadline);

/*
 * Check whether a wait may start, before allocating anything for it. Returns 0, -ECANCELED (the
 * fiber is cancelled) or -ETIMEDOUT. A fiber that must exit does so here and not in the wait that
 * follows, so nothing allocated leaks.
 */
int fib_wait_check(int64_t deadline);

/*
 * The caller is about to report -ECANCELED. By the fiber itself, while it holds nothing of the
 * library; does not return if the fiber must exit now.
 */
static inline void fib_tell_cancelled(struct fiber *fiber)
{
	fib_order_acquire(&fiber->cancelled);
	fib_carrier_self()->above.tell_cancelled(fiber);
}

/* Start an uncancellable wait without deadline, whatever the policy. */
void fib_wait_begin_unconditional(struct fib_waiter *w, enum fib_wait_kind kind,
				  const void *object);

/*
 * Take the wait back. True: no waker has decided it. False: the caller must call fib_wait(), which
 * returns at once.
 */
bool fib_wait_retract(struct fib_waiter *w);

/*
 * Take back a wait that no waker has seen: only a cancellation can have decided it, and then the
 * caller leaves for a moment. What it took instead of waiting stays its own. Not under a lock.
 */
void fib_wait_abort(struct fib_waiter *w);

/*
 * Wait until the wait is decided. Returns 0: woken; -ETIMEDOUT; -ECANCELED; -ENOMEM: no timer could
 * be set (the wait is over).
 */
static inline int fib_wait(struct fib_waiter *w, int64_t deadline);

/*
 * fib_wait() for a waiter that blocks (w->parker->blocks). A ready descriptor of the thread wait
 * ends it too, with 0.
 */
struct fib_thread_wait;
int fib_wait_with_fds(struct fib_waiter *w, int64_t deadline, struct fib_thread_wait *thread_wait);

/*
 * For a wait that blocks in a system call of its own: a pinned fiber's wait for a descriptor. enter
 * asks the policy and writes the wait record. Returns 0 and *ret_event, -EDEADLK or -ECANCELED. By
 * a pinned fiber. A cancellation does not end the system call.
 */
int fib_wait_enter_pinned(enum fib_wait_kind kind, uint64_t arg, int64_t deadline,
			  uint64_t *ret_event);
void fib_wait_leave_pinned(uint64_t event);

/* The caller as a holder field's value: its fiber's id, or FIB_HOLDER_THREAD | tid. */
static inline uint64_t fib_caller(void);

/* -- the path of an unpinned fiber's wait without deadline, inline; the rest is in wait.c -- */

int fib_wait_begin_slow(struct fib_waiter *w, enum fib_wait_kind kind, const void *object,
			uint64_t arg, int64_t deadline);
int fib_wait_slow(struct fib_waiter *w, int64_t deadline);
int fib_wait_result(struct fib_waiter *w);
uint64_t fib_caller_thread(void);

/* Publish that the fiber parks. */
static inline void fib_wait_record(struct fiber *fiber, enum fib_wait_kind kind, const void *object,
				   uint64_t arg, int64_t deadline)
{
	int64_t now = fib_coarse_now();

	fiber->wait_object = (uint64_t)(uintptr_t)object;
	fiber->wait_arg = arg;
	fiber->wait_deadline = deadline;
	fib_turn_ends(fiber, now);
	fib_store(&fiber->since, now);
	fib_store(&fiber->wait_kind, (uint8_t)kind);
	fib_store(&fiber->state, (uint8_t)FIBER_SUSPENDED);
}

static inline int fib_wait_begin(struct fib_waiter *w, enum fib_wait_kind kind, const void *object,
				 uint64_t arg, int64_t deadline)
{
	struct fib_carrier *c = fib_carrier_self();
	struct fiber *fiber = c ? c->current : NULL;
	int rc = fib_fault_wait(fiber, deadline);

	if (rc < 0)
		return rc;
	/* Acquire: what the canceller did before is visible. */
	if (fib_unlikely(!fiber || fiber->pins || deadline != FIBER_FOREVER ||
			 fib_load_acquire(&fiber->cancelled)))
		return fib_wait_begin_slow(w, kind, object, arg, deadline);
	fib_wait_record(fiber, kind, object, arg, deadline);
	w->linked = w->receives = false;
	w->parker = &fiber->parker;
	if (kind !=
	    FIB_WAIT_FD) /* a descriptor has no holder: do not touch the cache line of `who` */
		w->who = fiber->id;
	fiber->parker.blocks = 0;
	w->armed = fib_parker_arm(&fiber->parker, kind == FIB_WAIT_PARK ? FIB_OUTCOME_ARMED_PARK
									: FIB_OUTCOME_ARMED);
	return 0;
}

/* True: the fiber parked and was woken. Else *ret is the result of the wait. */
static fib_always_inline bool fib_wait_fast(struct fib_waiter *w, int64_t deadline, int *ret)
{
	struct fib_parker *parker = w->parker;
	struct fiber *fiber = parker->fiber;

	/* pairs: cancel.gap -- armed before the flag is read; the canceller executes the fence. */
	fib_fence_compiler();
	if (fib_unlikely(parker->blocks || deadline != FIBER_FOREVER ||
			 fib_load(&fib_cancel_fenced_by_waiters) || fib_load(&fiber->cancelled))) {
		*ret = fib_wait_slow(w, deadline);
		return false;
	}
	fib_switch_out(fiber);
	if (fib_likely(fib_parker_outcome(parker) == FIB_OUTCOME_WOKEN))
		return true;
	*ret = fib_wait_result(w);
	return false;
}

static fib_always_inline int fib_wait(struct fib_waiter *w, int64_t deadline)
{
	int rc;

	return fib_wait_fast(w, deadline, &rc) ? 0 : rc;
}

static inline uint64_t fib_caller(void)
{
	struct fib_carrier *c = fib_carrier_self();

	return c && c->current ? c->current->id : fib_caller_thread();
}

#endif
