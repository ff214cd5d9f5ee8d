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

#include "core/parker.h"
#include "core/record.h"
#include "core/registry.h"
#include "layout/layout.h"
#include "sched/sched.h"
#include "wait/cancel.h"

/*
 * Prepare the calling fiber or thread to wait. object and arg go into the wait record (layout.h).
 * deadline: ns, see time.h. 0; -ECANCELED in a cancelled fiber; -ETIMEDOUT for a deadline in the past;
 * -EDEADLK in a pinned fiber under FIBER_PINNED_ERROR. On an error nothing is armed.
 */
static inline int fib_wait_begin(struct fib_waiter *w, enum fib_wait_kind kind, const void *object,
				 uint64_t arg, int64_t deadline);

/* The same, but a plain thread sleeps on own, which may outlast the wait, and whose tickets count on. */
int fib_wait_begin_at(struct fib_waiter *w, struct fib_parker *own, enum fib_wait_kind kind,
		      const void *object, uint64_t arg, int64_t deadline);

/* The same for a wait that no cancellation ends. */
int fib_wait_begin_uncancellable(struct fib_waiter *w, enum fib_wait_kind kind, const void *object,
				 uint64_t arg, int64_t deadline);

/* Before anything is made for a wait: 0, -ECANCELED in a cancelled fiber, -ETIMEDOUT past the deadline. A fiber that is
 * to end here does, and in no wait that begins after it: so what is made need not be found again. */
int fib_wait_check(int64_t deadline);

/* A fiber that is cancelled is about to be told so. By the fiber itself, where it holds nothing of the library; does not
 * return to a fiber that must end here. */
static inline void fib_tell_cancelled(struct fiber *fiber)
{
	fib_carrier_self()->above.tell_cancelled(fiber);
}

/* A firm wait that must be, whatever the policy, and has no deadline. */
void fib_wait_begin_unconditional(struct fib_waiter *w, enum fib_wait_kind kind,
				  const void *object);

/* Do not wait after all. True when nobody has decided the wait meanwhile; on false call fib_wait, which
 * returns at once. */
bool fib_wait_retract(struct fib_waiter *w);

/* The same while no waker has seen w: only a cancellation may come between, and then the caller leaves for a
 * moment. What it took instead of waiting stays its own. Not under a lock. */
void fib_wait_abort(struct fib_waiter *w);

/* Wait until the wait is decided. 0: woken; -ETIMEDOUT; -ECANCELED; -ENOMEM when no timer could be set (the
 * wait is over). */
static inline int fib_wait(struct fib_waiter *w, int64_t deadline);

/* fib_wait() by a waiter that blocks (w->parker->blocks) and that a ready descriptor of the thread wait ends too, with 0. */
struct fib_thread_wait;
int fib_wait_with_fds(struct fib_waiter *w, int64_t deadline, struct fib_thread_wait *thread_wait);

/*
 * For a wait that has to block in a system call of its own: a pinned fiber's for a descriptor. enter asks the
 * policy and writes the wait record: 0 and *ret_event, -EDEADLK or -ECANCELED. By a pinned fiber. No
 * cancellation ends the system call.
 */
int fib_wait_enter_pinned(enum fib_wait_kind kind, uint64_t arg, int64_t deadline,
			  uint64_t *ret_event);
void fib_wait_leave_pinned(uint64_t event);

/* Who the caller is for a holder field: its fiber's id, or FIB_HOLDER_THREAD | tid. */
static inline uint64_t fib_caller(void);

/* -- what a wait without deadline of a fiber that is not pinned goes through, in line; the rest is in wait.c -- */

int fib_wait_begin_slow(struct fib_waiter *w, enum fib_wait_kind kind, const void *object,
			uint64_t arg, int64_t deadline);
int fib_wait_slow(struct fib_waiter *w, int64_t deadline);
int fib_wait_result(struct fib_waiter *w);
uint64_t fib_caller_thread(void);

/* The fiber parks from now on, in the eyes of everybody else. */
static inline void fib_wait_record(struct fiber *fiber, enum fib_wait_kind kind, const void *object,
				   uint64_t arg, int64_t deadline)
{
	int64_t now = fib_coarse_now();

	fiber->wait_object = (uint64_t)(uintptr_t)object;
	fiber->wait_arg = arg;
	fiber->wait_deadline = deadline;
	fib_count_cpu(fiber, now);
	fib_store(&fiber->since, now);
	fib_store(&fiber->wait_kind, (uint8_t)kind);
	fib_store(&fiber->state, (uint8_t)FIBER_SUSPENDED);
}

static inline int fib_wait_begin(struct fib_waiter *w, enum fib_wait_kind kind, const void *object,
				 uint64_t arg, int64_t deadline)
{
	struct fib_carrier *c = fib_carrier_self();
	struct fiber *fiber = c ? c->current : NULL;

	/* Acquire: what whoever cancelled it did before is visible. */
	if (fib_unlikely(!fiber || fiber->pins || deadline != FIBER_FOREVER ||
			 fib_load_acquire(&fiber->cancelled)))
		return fib_wait_begin_slow(w, kind, object, arg, deadline);
	fib_wait_record(fiber, kind, object, arg, deadline);
	w->linked = w->receives = false;
	w->parker = &fiber->parker;
	if (kind !=
	    FIB_WAIT_FD) /* nobody is handed a descriptor, and its cache line stays untouched */
		w->who = fiber->id;
	fiber->parker.blocks = 0;
	w->armed = fib_parker_arm(&fiber->parker, kind == FIB_WAIT_PARK ? FIB_OUTCOME_ARMED_PARK
									: FIB_OUTCOME_ARMED);
	return 0;
}

/* True: a fiber has parked and was woken. Else how the wait ended is in *ret. */
static fib_always_inline bool fib_wait_fast(struct fib_waiter *w, int64_t deadline, int *ret)
{
	struct fib_parker *parker = w->parker;
	struct fiber *fiber = parker->fiber;

	/* pairs: cancel.gap -- armed before the flag is read; who raises it sees to the rest. */
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
