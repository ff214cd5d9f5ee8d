/* SPDX-License-Identifier: MIT */
/*
 * rwlock.c - many readers or one writer, in the order in which they came
 *
 * Everything happens under the queue's lock. Whoever finds others waiting joins them, a reader too where it
 * could read at once: else readers that follow each other would keep a writer out for ever. Whoever leaves
 * lets in the head of the queue: one writer, or all readers up to the next writer.
 *
 * A waiter that gives up leaves the queue as well, and what stood behind it may go in now: readers behind a
 * writer whose time is up while others read. So it looks at the queue like one that unlocks.
 *
 * The writer's number is known, for the tools and for the check at the unlock. Of readers only their number is known,
 * and a mixture of their ids that tells whether a certain one reads alone: who then asks to write would wait for
 * itself, as a writer does that locks once more (relock.c).
 */
#include <errno.h>

#include <fiber/fiber.h>
#include <fiber/sync.h>

#include "base/check.h"
#include "base/compiler.h"
#include "life/background.h"
#include "life/held.h"
#include "sched/turn.h"
#include "sync/holder.h"
#include "sync/relock.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

/* Different for all fibers and threads, but for ids that are 2^31 apart. */
static uint32_t mark_of(uint64_t who)
{
	const bool thread = who & FIB_HOLDER_THREAD;

	return ((uint32_t)who << 1 | thread) * UINT32_C(0x9e3779b1);
}

/* who reads from now on, or no more. Under the queue's lock. */
static void enter_reader(struct fiber_rwlock *lock, uint64_t who)
{
	lock->readers++;
	lock->reader ^= mark_of(who);
}

static void leave_reader(struct fiber_rwlock *lock, uint64_t who)
{
	/* A read lock may have been released by another fiber than took it: the mixture is right again at 0. */
	lock->reader = --lock->readers ? lock->reader ^ mark_of(who) : 0;
}

struct rw_waiter {
	struct fib_waiter waiter;
	bool writes;
};

/* Take it if that needs no waiting. Under the queue's lock. */
static bool take_now(struct fiber_rwlock *lock, uint64_t me, bool writes)
{
	if (fib_queue_occupied(&lock->waiters) || lock->owner || (writes && lock->readers))
		return false;
	if (writes)
		lock->owner = me;
	else
		enter_reader(lock, me);
	return true;
}

/* Take it now, else join the queue (w not NULL). */
static bool take(struct fiber_rwlock *lock, bool writes, struct rw_waiter *w)
{
	const uint64_t me = fib_caller();
	bool taken;

	fib_queue_lock(&lock->waiters);
	taken = take_now(lock, me, writes);
	if (!taken && w)
		fib_queue_append(&lock->waiters, &w->waiter);
	fib_queue_unlock(&lock->waiters);
	return taken;
}

/* Why the caller would wait for itself, or NULL. */
static const char *waits_for_itself(struct fiber_rwlock *lock, bool writes)
{
	const uint64_t me = fib_caller();
	const char *why = NULL;

	fib_queue_lock(&lock->waiters);
	if (lock->owner == me)
		why = "is written by the caller already";
	else if (writes && lock->readers == 1 && lock->reader == mark_of(me))
		why = "is read by the caller already, and by no other";
	fib_queue_unlock(&lock->waiters);
	return why;
}

/* Let in whoever stands at the head and can come in now. Under the queue's lock. What a waiter gets is
 * written before it is claimed, and taken back if its time is up. */
static void let_in(struct fiber_rwlock *lock, struct fib_wake_list *list)
{
	struct fib_waiter *first;

	while (!lock->owner && (first = fib_queue_first(&lock->waiters))) {
		const bool writes = fib_container(first, struct rw_waiter, waiter)->writes;
		const uint64_t first_who = first->who;

		if (writes && lock->readers)
			return;
		if (writes)
			lock->owner = first_who;
		else
			enter_reader(lock, first_who);
		if (fib_queue_claim_next(&lock->waiters, list))
			continue;
		if (writes)
			lock->owner = 0;
		else
			leave_reader(lock, first_who);
	}
}

static int lock_contended(struct fiber_rwlock *lock, bool writes, int64_t deadline)
{
	struct fib_wake_list list = {NULL, NULL};
	struct rw_waiter w;
	int rc;

	rc = fib_wait_begin(&w.waiter, writes ? FIB_WAIT_RWLOCK_WRITE : FIB_WAIT_RWLOCK_READ, lock,
			    0, deadline);
	if (rc < 0)
		return rc;
	w.writes = writes;
	if (take(lock, writes, &w)) {
		fib_wait_abort(&w.waiter);
		return 0;
	}
	rc = fib_queue_wait(&lock->waiters, &w.waiter, deadline);
	if (rc < 0) {
		fib_queue_lock(&lock->waiters);
		let_in(lock, &list);
		fib_queue_unlock(&lock->waiters);
		fib_wake_all(&list);
	}
	return rc;
}

/* Of readers a fiber does not know how many locks it holds. */
static void note_held(const struct fiber_rwlock *lock, const void *at)
{
	struct fiber *me = fiber_self();

	if (me)
		fib_held_rwlock(me, lock, at);
}

/* Inlined, so that a backtrace says which of the two calls it was. */
static fib_always_inline int lock_mode(struct fiber_rwlock *lock, bool writes, int64_t deadline)
{
	struct fib_carrier *c = fib_carrier_self();
	const char *why;
	int rc = 0;

	if (c)
		fib_turn_count(c, c->current);
	if (take(lock, writes, NULL))
		return 0;
	why = waits_for_itself(lock, writes);
	if (why)
		rc = fib_relock(writes ? "fiber_rwlock_wrlock" : "fiber_rwlock_rdlock", "rwlock",
				lock, why, deadline);
	if (rc == 0)
		rc = lock_contended(lock, writes, deadline);
	return rc < 0 ? fib_background_refuse(rc) : 0;
}

int fiber_rwlock_rdlock(struct fiber_rwlock *lock, int64_t deadline)
{
	fib_must_have(lock, "the rwlock");
	return lock_mode(lock, false, deadline);
}

int fiber_rwlock_wrlock(struct fiber_rwlock *lock, int64_t deadline)
{
	int rc;

	fib_must_have(lock, "the rwlock");
	rc = lock_mode(lock, true, deadline);
	if (fib_likely(rc == 0))
		note_held(lock, __builtin_return_address(0));
	return rc;
}

int fiber_rwlock_tryrdlock(struct fiber_rwlock *lock)
{
	fib_must_have(lock, "the rwlock");
	return take(lock, false, NULL) ? 0 : -EBUSY;
}

int fiber_rwlock_trywrlock(struct fiber_rwlock *lock)
{
	fib_must_have(lock, "the rwlock");
	if (!take(lock, true, NULL))
		return -EBUSY;
	note_held(lock, __builtin_return_address(0));
	return 0;
}

static _Noreturn void die_not_held(struct fiber_rwlock *lock, uint64_t me)
{
	char caller[FIB_HOLDER_TEXT], holder[FIB_HOLDER_TEXT];

	fib_holder_text(caller, me);
	fib_holder_text(holder, lock->owner);
	fib_die("fiber_rwlock_unlock: rwlock \"%.31s\" is unlocked by %s but held by %s",
		lock->name, caller, holder);
}

int fiber_rwlock_unlock(struct fiber_rwlock *lock)
{
	struct fib_wake_list list = {NULL, NULL};
	struct fiber *self = fiber_self();
	const uint64_t me = fib_caller();

	fib_must_have(lock, "the rwlock");
	fib_queue_lock(&lock->waiters);
	if (lock->owner == me) {
		lock->owner = 0;
		if (self)
			fib_held_release(self);
	} else if (!lock->owner && lock->readers) {
		leave_reader(lock, me);
	} else {
		die_not_held(lock, me);
	}
	let_in(lock, &list);
	fib_queue_unlock(&lock->waiters);
	fib_wake_all(&list);
	return 0;
}
