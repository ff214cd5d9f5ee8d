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
 * The writer's number is known, for the tools and for the check at the unlock; of readers only how many.
 */
#include <errno.h>

#include <fiber/sync.h>

#include "base/check.h"
#include "base/compiler.h"
#include "sched/background.h"
#include "sched/wait.h"
#include "sync/holder.h"

struct rw_waiter {
	struct fib_waiter waiter;
	bool writes;
};

/* Take it now, else join the queue (w not NULL). Under the queue's lock. */
static bool take_or_join(struct fiber_rwlock *lock, uint64_t me, bool writes, struct rw_waiter *w)
{
	if (!fib_queue_occupied(&lock->waiters) && !lock->owner && !(writes && lock->readers)) {
		if (writes)
			lock->owner = me;
		else
			lock->readers++;
		return true;
	}
	if (w)
		fib_queue_append(&lock->waiters, &w->waiter);
	return false;
}

static bool take(struct fiber_rwlock *lock, bool writes, struct rw_waiter *w)
{
	uint64_t me = fib_caller();
	bool taken;

	fib_queue_lock(&lock->waiters);
	taken = take_or_join(lock, me, writes, w);
	fib_queue_unlock(&lock->waiters);
	return taken;
}

/* Let in whoever stands at the head and can come in now. Under the queue's lock. What a waiter gets is
 * written before it is claimed, and taken back if its time is up. */
static void let_in(struct fiber_rwlock *lock, struct fib_wake_list *list)
{
	struct fib_waiter *first;

	while (!lock->owner && (first = fib_queue_first(&lock->waiters))) {
		bool writes = fib_container(first, struct rw_waiter, waiter)->writes;

		if (writes && lock->readers)
			return;
		if (writes)
			lock->owner = first->who;
		else
			lock->readers++;
		if (fib_queue_claim_next(&lock->waiters, list))
			continue;
		if (writes)
			lock->owner = 0;
		else
			lock->readers--;
	}
}

/* Inlined, so that a backtrace says which of the two calls it was. */
static fib_always_inline int lock_as(struct fiber_rwlock *lock, bool writes, int64_t deadline)
{
	struct fib_wake_list list = {NULL, NULL};
	struct rw_waiter w;
	int rc;

	if (take(lock, writes, NULL))
		return 0;
	rc = fib_wait_begin(&w.waiter, writes ? FIB_WAIT_RWLOCK_WRITE : FIB_WAIT_RWLOCK_READ, lock,
			    0, deadline);
	if (rc < 0)
		return fib_background_refuse(rc);
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
	return rc < 0 ? fib_background_refuse(rc) : 0;
}

int fiber_rwlock_rdlock(struct fiber_rwlock *lock, int64_t deadline)
{
	fib_must_have(lock, "the rwlock");
	return lock_as(lock, false, deadline);
}

int fiber_rwlock_wrlock(struct fiber_rwlock *lock, int64_t deadline)
{
	return lock_as(lock, true, deadline);
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
	uint64_t me = fib_caller();

	fib_must_have(lock, "the rwlock");
	fib_queue_lock(&lock->waiters);
	if (lock->owner == me)
		lock->owner = 0;
	else if (!lock->owner && lock->readers)
		lock->readers--;
	else
		die_not_held(lock, me);
	let_in(lock, &list);
	fib_queue_unlock(&lock->waiters);
	fib_wake_all(&list);
	return 0;
}
