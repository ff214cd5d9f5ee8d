/* SPDX-License-Identifier: MIT */
/*
 * mutex.c - a mutex that is handed over to the longest waiter
 *
 * The owner field holds the id of the owner (the tools read it, too) and the flag
 * FIB_HOLDER_CONTENDED, which says that there may be waiters. Without contention lock and unlock
 * are one compare-and-swap each. With waiters, unlock passes the mutex to the longest waiter under
 * the queue's lock. No later caller can take it in between, so no waiter starves.
 *
 * An unlock could store 0 without a locked instruction, if the first waiter announced itself by
 * membarrier(2). That would save 1 ns of 5, and cost each mutex that is ever waited for 10 us and an
 * interrupt on every CPU.
 *
 * A mutex that is handed over is not free until the next owner runs, which may take longer than
 * the owner holds it. Two carriers that lock one mutex all the time would spend nearly all time so.
 * Therefore a caller that finds the mutex held, without waiters, by a fiber that runs on another
 * carrier looks at it for some microseconds before it joins the queue. Such a caller is no waiter
 * yet. It overtakes none: it takes the mutex only when that is free, which it never is while there
 * are waiters.
 *
 * unlock claims the wait of the next owner, records that this fiber no longer waits, and then writes
 * it as the owner. A reader therefore never finds an owner that waits for its own mutex. The next
 * owner cannot unlock before it has been written: a fiber runs only after fib_wake(), and a thread
 * or a pinned fiber takes the queue's lock once more after its wait (fib_queue_wait()). If the claim
 * fails (the wait timed out meanwhile), unlock tries the next waiter.
 *
 * A broadcast moves the waiters of a condition into the queue if the mutex is held: awake, each would
 * only find it held. Their waits have been claimed by the broadcast, so none of them can time out
 * here.
 *
 * The next owner may be the last user of the mutex and free it. Therefore unlock does not touch the
 * mutex after giving it away: the swap that frees it is done outside the queue's lock.
 */
#include <errno.h>

#include <fiber/fiber.h>
#include <fiber/sync.h>
#include <fiber/time.h>

#include "base/atomic.h"
#include "base/check.h"
#include "choice.h"
#include "order.h"
#include "life/background.h"
#include "life/held.h"
#include "sched/running.h"
#include "sched/turn.h"
#include "sync/holder.h"
#include "sync/mutex.h"
#include "sync/relock.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

/* A relax takes 5-25 ns on CPUs of today. */
#define SPIN_ROUNDS 20u
#define SPIN_LOOK   8u	 /* rounds between two looks at what the owner does */
#define SPIN_FIRST  8u	 /* relaxes before the second look at the mutex */
#define SPIN_PAUSE  128u /* relaxes between two later looks */

static bool take_free(struct fiber_mutex *mutex, uint64_t me)
{
	return fib_sole_cas64(&mutex->owner, 0, me);
}

/*
 * Under the queue's lock: take the mutex if it is free, else set the contended flag for the owner.
 * me: 0 to announce a waiter only; the mutex then stays free.
 */
static bool take_or_announce(struct fiber_mutex *mutex, uint64_t me)
{
	uint64_t owner = fib_load(&mutex->owner);

	for (;;) {
		if (!owner) {
			if (fib_cas(&mutex->owner, &owner, me))
				return true;
		} else if ((owner & FIB_HOLDER_CONTENDED) ||
			   fib_cas(&mutex->owner, &owner, owner | FIB_HOLDER_CONTENDED)) {
			return false;
		}
	}
}

static fib_always_inline int wait_in_queue(struct fiber_mutex *mutex, struct fib_waiter *w,
					   int64_t deadline)
{
	const uint32_t section = fib_queue_enter(&mutex->waiters);

	if (take_or_announce(mutex, w->who)) {
		fib_queue_leave(&mutex->waiters, section);
		fib_wait_abort(w);
		return 0;
	}
	w->moved = false;
	fib_queue_append(&mutex->waiters, w);
	fib_queue_leave(&mutex->waiters, section);
	return fib_queue_wait(&mutex->waiters, w, deadline);
}

/* Append a waiter whose wait is claimed. Under the queue's lock. */
static void append_moved(struct fiber_mutex *mutex, struct fib_waiter *w)
{
	struct fiber *fiber = w->parker->fiber;

	fiber->wait_object = (uint64_t)(uintptr_t)mutex;
	fiber->wait_deadline = FIBER_FOREVER;
	fib_store(&fiber->since, fib_coarse_now());
	/* The kind last: a reader never finds a mutex where there is a condition. */
	fib_store_release(&fiber->wait_kind, (uint8_t)FIB_WAIT_MUTEX);
	w->moved = true;
	fib_queue_append(&mutex->waiters, w);
}

void fib_mutex_move_waiters(struct fiber_mutex *mutex, struct fib_wake_list *list)
{
	struct fib_wake_list rest = {NULL, NULL};
	struct fib_waiter *w, *next;

	fib_queue_lock(&mutex->waiters);
	if (take_or_announce(mutex, 0)) {
		fib_queue_unlock(&mutex->waiters);
		return;
	}
	for (w = list->first; w; w = next) {
		next = fib_waiter_of(w->link.next);
		if (w->parker->blocks)
			fib_wake_list_append(&rest, w);
		else
			append_moved(mutex, w);
	}
	fib_queue_unlock(&mutex->waiters);
	*list = rest;
}

/* Record that the calling fiber holds the mutex. Threads are not recorded. */
static void note_held(struct fiber_mutex *mutex, const void *at)
{
	struct fiber *me = fiber_self();

	fib_order_lock(mutex, at, true);
	if (me)
		fib_held_mutex(me, mutex, at);
}

/*
 * Take the mutex when it becomes free, without suspending. A look takes the cache line away from the
 * owner, which may need it for a hundred locks until the next look. False: it has waiters, its owner does not
 * run on another carrier, or it was not free in time.
 */
static bool take_soon(struct fiber_mutex *mutex, uint64_t me)
{
	const struct fib_carrier *c = fib_carrier_self();
	unsigned pause = SPIN_FIRST, i, rounds;

	if (!c || !c->current || c->sched->carrier_count == 1)
		return false;
	for (rounds = 0; rounds < SPIN_ROUNDS; rounds++) {
		const uint64_t owner = fib_load(&mutex->owner);

		/* The attempt that brought the caller here has just failed. */
		if (!owner && rounds && take_free(mutex, me))
			return true;
		if (owner & FIB_HOLDER_CONTENDED)
			return false;
		if (owner && rounds % SPIN_LOOK == 1 && !fib_running_beside(c, owner))
			return false;
		for (i = 0; i < pause; i++)
			fib_relax();
		pause = SPIN_PAUSE;
	}
	return false;
}

/*
 * Out of line: locking a free mutex need not save the registers that a wait needs. at: who called
 * lock.
 */
static fib_noinline int lock_contended(struct fiber_mutex *mutex, int64_t deadline, const void *at)
{
	const uint64_t me = fib_caller();
	struct fib_waiter w;
	int rc = 0;

	if ((fib_load(&mutex->owner) & ~FIB_HOLDER_CONTENDED) == me)
		rc = fib_relock("fiber_mutex_lock", "mutex", mutex, "is held by the caller already",
				deadline);
	if (rc == 0 && deadline > fib_coarse_now() && take_soon(mutex, me)) {
		note_held(mutex, at);
		return 0;
	}
	/* It may be free by now, or the quick attempt has not tried. */
	if (rc == 0 && !fib_load(&mutex->owner) && take_free(mutex, me)) {
		note_held(mutex, at);
		return 0;
	}
	if (rc == 0)
		rc = fib_wait_begin(&w, FIB_WAIT_MUTEX, mutex, 0, deadline);
	if (rc == 0)
		rc = wait_in_queue(mutex, &w, deadline);
	if (fib_unlikely(rc < 0))
		return fib_background_refuse(rc);
	note_held(mutex, at);
	return 0;
}

/*
 * The caller is a thread, or a fiber whose countdown to the next check of its time slice is over.
 */
static fib_noinline int lock_slow(struct fiber_mutex *mutex, int64_t deadline, const void *at)
{
	struct fib_carrier *c = fib_carrier_self();

	if (fib_unlikely(!mutex))
		fib_die_null("fiber_mutex_lock", "the mutex");
	if (c && c->current) {
		/* First: after a turn the caller may be on another carrier. */
		c->sole = fib_sole_still(c->sole);
		fib_turn_look(c, c->current);
	}
	if (!take_free(mutex, fib_caller()))
		return lock_contended(mutex, deadline, at);
	note_held(mutex, at);
	return 0;
}

/*
 * Take a free mutex for the fiber c->current. False does not mean that the mutex is held:
 * fib_sole_cas64_shared().
 */
static fib_always_inline bool take_quick(struct fiber_mutex *mutex, struct fib_carrier *c)
{
	const uint64_t me = c->current->id;
	const int done = fib_sole_swap64(c->sole, &mutex->owner, 0, me);

	return done > 0 || (done < 0 && fib_sole_cas64_shared(&mutex->owner, 0, me));
}

int fiber_mutex_lock(struct fiber_mutex *mutex, int64_t deadline)
{
	const void *const at = __builtin_return_address(0);
	struct fib_carrier *c = fib_carrier_self();
	struct fiber *me = c ? c->current : NULL;
	int rc;

	fib_choice(mutex);
	if (fib_unlikely(!me || !--c->locks)) {
		rc = lock_slow(mutex, deadline, at);
	} else {
		if (fib_likely(take_quick(mutex, c))) {
			fib_order_lock(mutex, at, true);
			fib_held_mutex(me, mutex, at);
			return 0;
		}
		rc = lock_contended(mutex, deadline, at);
	}
	fib_fence_compiler(); /* prevent a tail call: a backtrace shows this function */
	return rc;
}

static fib_noinline void wait_always(struct fiber_mutex *mutex)
{
	struct fib_waiter w;

	fib_wait_begin_unconditional(&w, FIB_WAIT_MUTEX, mutex);
	fib_check(wait_in_queue(mutex, &w, FIBER_FOREVER) == 0);
}

void fib_mutex_relock(struct fiber_mutex *mutex, struct fib_carrier *c, const void *at)
{
	struct fiber *me = c ? c->current : NULL;
	const uint64_t id = me ? me->id : fib_caller_thread();

	/* A waiter that a broadcast has moved to the mutex comes back as its owner. */
	if (!(me && take_quick(mutex, c)) &&
	    (fib_load(&mutex->owner) & ~FIB_HOLDER_CONTENDED) != id)
		wait_always(mutex);
	fib_order_lock(mutex, at, true);
	if (fib_likely(me != NULL))
		fib_held_mutex(me, mutex, at);
}

int fiber_mutex_trylock(struct fiber_mutex *mutex)
{
	fib_choice(mutex);
	if (!take_free(mutex, fib_caller()))
		return -EBUSY;
	note_held(mutex, __builtin_return_address(0));
	return 0;
}

static _Noreturn void die_not_owner(struct fiber_mutex *mutex, uint64_t me, uint64_t owner)
{
	char caller[FIB_HOLDER_TEXT], holder[FIB_HOLDER_TEXT];

	fib_holder_text(caller, me);
	fib_holder_text(holder, owner);
	fib_die("fiber_mutex_unlock: mutex \"%.31s\" is unlocked by %s but held by %s", mutex->name,
		caller, holder);
}

/* Unlink the first waiter and claim its wait, if that was not done when it was moved here. */
static bool claim_first(struct fiber_mutex *mutex, uint32_t section, struct fib_wake *ret)
{
	struct fib_waiter *w = fib_queue_first(&mutex->waiters);

	if (!w->moved)
		return fib_queue_claim_first_in(&mutex->waiters, section, ret);
	fib_queue_unlink(&mutex->waiters, w);
	*ret = (struct fib_wake){w->parker->fiber, NULL};
	return true;
}

/*
 * Give the mutex to the first waiter that can still be claimed. False: there is none, and the
 * caller owns the mutex with the contended flag cleared.
 */
static bool hand_over(struct fiber_mutex *mutex, uint64_t me)
{
	const uint32_t section = fib_queue_enter(&mutex->waiters);
	struct fib_wake wake;
	struct fib_waiter *w;
	bool claimed = false;

	while (!claimed && (w = fib_queue_first(&mutex->waiters))) {
		const uint64_t more =
			fib_queue_has_several(&mutex->waiters) ? FIB_HOLDER_CONTENDED : 0;
		const uint64_t next = w->who | more;

		claimed = claim_first(mutex, section, &wake);
		if (claimed) {
			fib_wake_show(&wake);
			fib_store(&mutex->owner, next);
		}
	}
	if (!claimed)
		fib_store(&mutex->owner, me);
	fib_queue_leave(&mutex->waiters, section);
	if (claimed)
		fib_wake(&wake, true);
	return claimed;
}

/* Unlock what has no waiters. False: it has some. Ends the program if `me` is not the owner. */
static bool free_now(struct fiber_mutex *mutex, uint64_t me)
{
	uint64_t owner = fib_load(&mutex->owner);

	/* After the swap another caller may lock, unlock and free it: do not touch it again. */
	if (owner == me && fib_sole_cas64(&mutex->owner, me, 0))
		return true;
	owner = fib_load(&mutex->owner);
	if (owner != (me | FIB_HOLDER_CONTENDED))
		die_not_owner(mutex, me, owner);
	return false;
}

fib_noinline int fib_mutex_unlock_slow(struct fiber_mutex *mutex)
{
	const uint64_t me = fib_caller();

	if (fib_unlikely(!mutex))
		fib_die_null("fiber_mutex_unlock", "the mutex");
	while (!free_now(mutex, me) && !hand_over(mutex, me))
		;
	return 0;
}

int fiber_mutex_unlock(struct fiber_mutex *mutex)
{
	struct fib_carrier *c = fib_carrier_self();

	fib_choice(mutex);
	return fib_mutex_unlock(mutex, c);
}
