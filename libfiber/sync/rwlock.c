/* SPDX-License-Identifier: MIT */
/*
 * rwlock.c - a lock for many readers or one writer, in arrival order
 *
 * All state changes under the queue's lock. A caller that finds waiters joins the queue, even a
 * reader that could enter at once: otherwise a steady stream of readers would starve a writer. An
 * unlock lets in the head of the queue: one writer, or all readers up to the next writer.
 *
 * A waiter that times out leaves the queue, which may let in the waiters behind it (readers behind
 * a writer, while others read). Therefore it lets in the head of the queue as an unlock does.
 *
 * The lock stores the writer's id, for the tools and for the check in unlock. Of readers it stores
 * their count and the XOR of a hash of their ids. With a count of 1 the XOR tells whether a given
 * reader is the only one; if it asks to write, it would wait for itself, like a writer that locks
 * twice (relock.c).
 */
#include <errno.h>

#include <fiber/fiber.h>
#include <fiber/sync.h>

#include "base/check.h"
#include "choice.h"
#include "order.h"
#include "base/compiler.h"
#include "life/background.h"
#include "life/held.h"
#include "sched/turn.h"
#include "sync/holder.h"
#include "sync/relock.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

/* A hash that differs for all fibers and threads whose ids are not 2^31 apart. */
static uint32_t mark_of(uint64_t who)
{
	const bool thread = who & FIB_HOLDER_THREAD;

	return ((uint32_t)who << 1 | thread) * UINT32_C(0x9e3779b1);
}

/* Add or remove the reader `who`. Under the queue's lock. */
static void enter_reader(struct fiber_rwlock *lock, uint64_t who)
{
	lock->readers++;
	lock->reader ^= mark_of(who);
}

static void leave_reader(struct fiber_rwlock *lock, uint64_t who)
{
	/* Another fiber may release a read lock, which breaks the XOR; it is reset at 0 readers. */
	lock->reader = --lock->readers ? lock->reader ^ mark_of(who) : 0;
}

struct rw_waiter {
	struct fib_waiter waiter;
	bool writes;
};

/* Take the lock if that needs no waiting. Under the queue's lock. */
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

/* Take the lock now, else join the queue (if w is not NULL). */
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

/* Returns why the caller would wait for itself, or NULL. */
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

/*
 * Let in the waiters at the head that can enter now. Under the queue's lock. A waiter is claimed
 * before the lock's state is written, and is recorded as no longer waiting, so that a reader never
 * finds an owner that waits for its own lock. No claimed waiter runs before fib_wake_all().
 */
static void let_in(struct fiber_rwlock *lock, struct fib_wake_list *list)
{
	struct fib_waiter *first;

	while (!lock->owner && (first = fib_queue_first(&lock->waiters))) {
		const bool writes = fib_container(first, struct rw_waiter, waiter)->writes;
		const uint64_t first_who = first->who;
		struct fib_parker *parker = first->parker;
		const struct fib_wake wake = {parker->blocks ? NULL : parker->fiber, NULL};

		if (writes && lock->readers)
			return;
		if (!fib_queue_claim_next(&lock->waiters, list))
			continue;
		fib_wake_show(&wake);
		if (writes)
			lock->owner = first_who;
		else
			enter_reader(lock, first_who);
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

/* Record a held write lock. Read locks are not recorded. */
static void note_held(const struct fiber_rwlock *lock, const void *at)
{
	struct fiber *me = fiber_self();

	fib_order_lock(lock, at, true);
	if (me)
		fib_held_rwlock(me, lock, at);
}

/* Inlined, so that a backtrace shows which of the two public calls was made. */
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
	int rc;

	fib_choice(lock);
	fib_must_have(lock, "the rwlock");
	rc = lock_mode(lock, false, deadline);
	if (rc == 0)
		fib_order_lock(lock, __builtin_return_address(0), false);
	return rc;
}

int fiber_rwlock_wrlock(struct fiber_rwlock *lock, int64_t deadline)
{
	int rc;

	fib_choice(lock);
	fib_must_have(lock, "the rwlock");
	rc = lock_mode(lock, true, deadline);
	if (fib_likely(rc == 0))
		note_held(lock, __builtin_return_address(0));
	return rc;
}

int fiber_rwlock_tryrdlock(struct fiber_rwlock *lock)
{
	fib_choice(lock);
	fib_must_have(lock, "the rwlock");
	if (!take(lock, false, NULL))
		return -EBUSY;
	fib_order_lock(lock, __builtin_return_address(0), false);
	return 0;
}

int fiber_rwlock_trywrlock(struct fiber_rwlock *lock)
{
	fib_choice(lock);
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

	fib_choice(lock);
	fib_must_have(lock, "the rwlock");
	fib_queue_lock(&lock->waiters);
	if (lock->owner == me) {
		fib_order_unlock(lock, true);
		lock->owner = 0;
		if (self)
			fib_held_release(self);
	} else if (!lock->owner && lock->readers) {
		fib_order_unlock(lock, false);
		leave_reader(lock, me);
	} else {
		die_not_held(lock, me);
	}
	let_in(lock, &list);
	fib_queue_unlock(&lock->waiters);
	fib_wake_all(&list);
	return 0;
}
