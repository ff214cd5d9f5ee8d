/* SPDX-License-Identifier: MIT */
/*
 * wait.c - park a fiber, block a thread
 *
 * A fiber writes what it waits for into its record, arms its parker and leaves. A plain thread, and
 * a pinned fiber that the policy lets block, sleep on the parker's word instead. The record is
 * written before the parker is armed: after that it belongs to the thread that claims the wait.
 *
 * Cancellation is implemented only here (cancel.c): a cancelled fiber does not start to wait, and a
 * fiber cancelled later is claimed like any waiter, with another outcome.
 */
#include "fault.h"
#include "wait/wait.h"

#include <errno.h>

#include <fiber/time.h>

#include "core/registry.h"
#include "order.h"
#include "os/os.h"
#include "sched/sched.h"
#include "wait/pinned.h"
#include "wait/thread_wait.h"

#define FAR INT64_C(5000000) /* ns */

uint64_t fib_caller_thread(void)
{
	return FIB_HOLDER_THREAD | fib_os_tid();
}

static void write_record(struct fiber *fiber, enum fib_wait_kind kind, const void *object,
			 uint64_t arg, int64_t deadline)
{
	if (!fiber->pins) {
		fib_wait_record(fiber, kind, object, arg, deadline);
		return;
	}
	/* For other threads a pinned fiber continues to run. */
	fiber->wait_object = (uint64_t)(uintptr_t)object;
	fiber->wait_arg = arg;
	fiber->wait_deadline = deadline;
	fib_store(&fiber->wait_kind, (uint8_t)kind);
}

/*
 * The wait is over or did not start: the caller runs. The switch count of the fiber has not changed.
 * So that a reader can tell this wait from the next one for the same object, it is counted here. The
 * fiber is in no heap of timers: a pinned one never is, another one has left it.
 */
static void erase_record(struct fiber *fiber)
{
	fib_store(&fiber->wait_kind, FIB_WAIT_NONE);
	fiber->pinned_waits++;
	fib_store(&fiber->state, (uint8_t)FIBER_RUNNING);
}

/* Ask the policy of a pinned fiber. The wait is already in the record, which the event copies. */
static int consult(struct fiber *fiber, enum fib_wait_kind kind)
{
	int rc = fib_pinned_consult(fiber, kind);

	if (rc < 0)
		erase_record(fiber);
	return rc;
}

/* Waits of a fiber that masks cancellations are armed as uncancellable, too. */
static inline void arm(struct fib_waiter *w, struct fiber *fiber, enum fib_wait_kind kind,
		       bool uncancellable)
{
	enum fib_outcome armed = kind == FIB_WAIT_PARK ? FIB_OUTCOME_ARMED_PARK : FIB_OUTCOME_ARMED;

	/* Only the fiber itself changes the mask, so it cannot change during the wait. */
	uncancellable = uncancellable || fib_load(&fiber->cancelled) & FIB_CANCEL_MASKED;
	w->linked = w->receives = false;
	w->parker = &fiber->parker;
	w->who = fiber->id;
	fiber->parker.blocks = fiber->pins;
	if (uncancellable)
		armed = kind == FIB_WAIT_PARK ? FIB_OUTCOME_ARMED_PARK_UNCANCELLABLE
					      : FIB_OUTCOME_ARMED_UNCANCELLABLE;
	else if (fib_unlikely(fiber->pins))
		armed = FIB_OUTCOME_ARMED_BLOCKING;
	w->armed = fib_parker_arm(w->parker, armed);
}

/*
 * Arm a plain thread. own NULL: use the parker in the waiter. A thread has no record, so what it
 * waits for is beside the word that it sleeps on.
 */
static fib_noinline void arm_thread(struct fib_waiter *w, struct fib_parker *own,
				    enum fib_wait_kind kind, const void *object, uint64_t arg)
{
	w->kind = kind;
	w->object = (uint64_t)(uintptr_t)object;
	w->arg = arg;
	w->linked = w->receives = false;
	w->who = fib_caller_thread();
	w->parker = own ? own : &w->own;
	if (!own)
		fib_store(&w->own.word, FIB_OUTCOME_IDLE);
	w->parker->fiber = NULL;
	w->parker->blocks = true;
	w->armed = fib_parker_arm(w->parker, FIB_OUTCOME_ARMED);
}

static bool is_over(int64_t deadline)
{
	return deadline != FIBER_FOREVER && (deadline <= 0 || deadline <= fiber_now());
}

/*
 * is_over() for a fiber that parks, usually without reading the clock: a deadline that is FAR from
 * the coarse clock has not passed. If the coarse clock is late by more than FAR, the wait ends as
 * soon as it has started.
 */
static bool is_surely_over(int64_t deadline)
{
	if (deadline <= 0)
		return true;
	return deadline - FAR < fib_coarse_now() && deadline <= fiber_now();
}

int fib_wait_check(int64_t deadline)
{
	struct fiber *fiber = fib_self();

	if (fiber && fib_cancel_due(fiber)) {
		fib_tell_cancelled(fiber);
		return -ECANCELED;
	}
	return is_over(deadline) ? -ETIMEDOUT : 0;
}

static inline int begin(struct fib_waiter *w, struct fib_parker *own, enum fib_wait_kind kind,
			const void *object, uint64_t arg, int64_t deadline, bool uncancellable)
{
	struct fiber *fiber = fib_self();

	if (!fiber) {
		if (is_over(deadline))
			return -ETIMEDOUT;
		arm_thread(w, own, kind, object, arg);
		return 0;
	}
	if (!uncancellable && fib_cancel_due(fiber)) {
		fib_tell_cancelled(fiber);
		return -ECANCELED;
	}
	if (fiber->pins ? is_over(deadline) : is_surely_over(deadline))
		return -ETIMEDOUT;
	write_record(fiber, kind, object, arg, deadline);
	if (fib_unlikely(fiber->pins)) {
		int rc = consult(fiber, kind);

		if (rc < 0)
			return rc;
	}
	arm(w, fiber, kind, uncancellable);
	return 0;
}

int fib_wait_begin_slow(struct fib_waiter *w, enum fib_wait_kind kind, const void *object,
			uint64_t arg, int64_t deadline)
{
	return begin(w, NULL, kind, object, arg, deadline, false);
}

int fib_wait_begin_at(struct fib_waiter *w, struct fib_parker *own, enum fib_wait_kind kind,
		      const void *object, uint64_t arg, int64_t deadline)
{
	int rc = fib_fault_wait(fib_self(), deadline);

	return rc < 0 ? rc : begin(w, own, kind, object, arg, deadline, false);
}

int fib_wait_begin_uncancellable(struct fib_waiter *w, enum fib_wait_kind kind, const void *object,
				 uint64_t arg, int64_t deadline)
{
	return begin(w, NULL, kind, object, arg, deadline, true);
}

void fib_wait_begin_unconditional(struct fib_waiter *w, enum fib_wait_kind kind, const void *object)
{
	struct fiber *fiber = fib_self();

	if (!fiber) {
		arm_thread(w, NULL, kind, object, 0);
		return;
	}
	write_record(fiber, kind, object, 0, FIBER_FOREVER);
	arm(w, fiber, kind, true);
}

bool fib_wait_retract(struct fib_waiter *w)
{
	if (!fib_parker_claim(w->parker, w->armed, FIB_OUTCOME_IDLE))
		return false;
	if (w->parker->fiber)
		erase_record(w->parker->fiber);
	return true;
}

void fib_wait_abort(struct fib_waiter *w)
{
	/* No other thread knows of a thread's wait: no claim, which would end the use of objects by
	 * one carrier alone (core/sole.h). */
	if (!w->parker->fiber) {
		fib_store(&w->parker->word, (w->armed & ~FIB_OUTCOME_MASK) | FIB_OUTCOME_IDLE);
		return;
	}
	/*
	 * Only a cancellation can have decided the wait, and it makes the fiber runnable, so the
	 * fiber must leave once. It keeps what it found instead of waiting; its next wait returns
	 * -ECANCELED.
	 */
	if (!fib_wait_retract(w))
		fib_wait(w, FIBER_FOREVER);
}

int fib_wait_result(struct fib_waiter *w)
{
	enum fib_outcome outcome = fib_parker_outcome(w->parker);

	if (outcome == FIB_OUTCOME_WOKEN)
		return 0;
	if (outcome != FIB_OUTCOME_CANCELLED)
		return -ETIMEDOUT;
	fib_order_acquire(&w->parker->fiber->cancelled);
	return -ECANCELED;
}

/*
 * Block on the word, and in a thread wait if there is one. By a thread, or a pinned fiber that
 * blocks its carrier.
 */
static int wait_blocking(struct fib_waiter *w, int64_t deadline,
			 struct fib_thread_wait *thread_wait)
{
	const uint32_t claimed = (w->armed & ~FIB_OUTCOME_MASK) | FIB_OUTCOME_CLAIMED;
	struct fib_parker *p = w->parker;
	/* Only a fiber or another thread ends such a wait: count this thread as waiting. */
	const bool waits = !p->fiber && !thread_wait && deadline == FIBER_FOREVER;
	uint32_t word;
	int rc;

	if (waits)
		fib_registry_thread_waits(true);
	while ((word = fib_load_acquire(&p->word)) == w->armed || word == claimed) {
		/* Once claimed, the final outcome follows soon. */
		if (thread_wait && word != claimed)
			rc = fib_thread_wait_sleep(thread_wait, word, deadline);
		else
			rc = fib_os_futex_wait(&p->word, word,
					       word == claimed ? FIBER_FOREVER : deadline);
		if (rc == -ETIMEDOUT)
			fib_parker_claim(p, w->armed, FIB_OUTCOME_TIMED_OUT);
		else if (rc > 0)
			fib_parker_claim(p, w->armed, FIB_OUTCOME_WOKEN);
	}
	if (waits)
		fib_registry_thread_waits(false);
	return fib_wait_result(w);
}

/* wait_blocking(), and record the wait of a pinned fiber. */
static int wait_in_os(struct fib_waiter *w, int64_t deadline, struct fib_thread_wait *thread_wait)
{
	struct fiber *fiber = w->parker->fiber;
	uint64_t event;
	int rc;

	if (!fiber)
		return wait_blocking(w, deadline, thread_wait);
	event = fib_pinned_begin(fiber, (enum fib_wait_kind)fib_load(&fiber->wait_kind));
	rc = wait_blocking(w, deadline, thread_wait);
	erase_record(fiber);
	fib_pinned_end(fiber, event);
	return rc;
}

/*
 * Retract the wait if the fiber was cancelled before it was armed: the canceller may have seen no
 * wait. If the retraction fails, the wait has been decided, and that result holds.
 */
static inline bool retracts_cancelled(struct fib_waiter *w)
{
	struct fiber *fiber = w->parker->fiber;

	/* pairs: cancel.gap -- armed before the flag is read; the canceller executes the fence. */
	fib_fence_compiler();
	if (fib_unlikely(fib_load(&fib_cancel_fenced_by_waiters)))
		fib_fence_seq();
	return fiber && fib_cancel_due(fiber) &&
	       (w->armed & FIB_OUTCOME_MASK) != FIB_OUTCOME_ARMED_UNCANCELLABLE &&
	       fib_wait_retract(w);
}

static int wait_parked(struct fib_waiter *w, int64_t deadline)
{
	struct fiber *fiber = w->parker->fiber;
	int rc = 0;

	if (deadline != FIBER_FOREVER) {
		rc = fib_timers_add(&fib_carrier_self()->timers, fiber, w->armed, deadline);
		/* Without a timer the wait must end now, unless it has just been decided. */
		if (rc < 0 && fib_wait_retract(w))
			return rc;
	}
	fib_switch_out(fiber);
	if (deadline != FIBER_FOREVER)
		fib_timers_drop(fiber);
	return fib_wait_result(w);
}

int fib_wait_slow(struct fib_waiter *w, int64_t deadline)
{
	if (retracts_cancelled(w)) {
		fib_order_acquire(&w->parker->fiber->cancelled);
		return -ECANCELED;
	}
	return w->parker->blocks ? wait_in_os(w, deadline, NULL) : wait_parked(w, deadline);
}

int fib_wait_with_fds(struct fib_waiter *w, int64_t deadline, struct fib_thread_wait *thread_wait)
{
	int rc;

	if (retracts_cancelled(w))
		return -ECANCELED;
	fib_thread_wait_enter(thread_wait, &w->parker->word);
	rc = wait_in_os(w, deadline, thread_wait);
	fib_thread_wait_leave(thread_wait);
	return rc;
}

int fib_wait_enter_pinned(enum fib_wait_kind kind, uint64_t arg, int64_t deadline,
			  uint64_t *ret_event)
{
	struct fiber *fiber = fib_carrier_self()->current;
	int rc;

	if (fib_cancel_due(fiber)) {
		fib_tell_cancelled(fiber);
		return -ECANCELED;
	}
	write_record(fiber, kind, NULL, arg, deadline);
	rc = consult(fiber, kind);
	if (rc < 0)
		return rc;
	*ret_event = fib_pinned_begin(fiber, kind);
	return 0;
}

void fib_wait_leave_pinned(uint64_t event)
{
	struct fiber *fiber = fib_carrier_self()->current;

	erase_record(fiber);
	fib_pinned_end(fiber, event);
}
