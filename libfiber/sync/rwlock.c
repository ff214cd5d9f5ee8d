/* SPDX-License-Identifier: MIT */
/*
 * rwlock.c - a lock for many readers or one writer, in arrival order
 *
 * The state word has the number of readers and the flags WRITTEN and WAITED. Without waiters it is
 * changed by compare-and-swap, one for a lock and one for an unlock. WAITED is set by the first
 * caller that joins the queue and stays until the queue is empty. While it is set, no caller enters
 * or leaves without the queue's lock. So everything below that looks at waiters is under that lock.
 *
 * The next owner may be the last user of the lock and free it. With waiters it is one of them, which
 * runs after the queue is unlocked. Without waiters it can be any caller, so an unlock that finds
 * none under the queue's lock unlocks the queue and starts again.
 *
 * A caller that finds WAITED joins the queue, even a reader that could enter at once: otherwise a
 * steady stream of readers would starve a writer. An unlock lets in the head of the queue: one
 * writer, or all readers up to the next writer.
 *
 * A waiter that times out leaves the queue, which may let in the waiters behind it (readers behind
 * a writer, while others read). Therefore it lets in the head of the queue as an unlock does.
 *
 * The lock stores the writer's id, for the tools and for the check in unlock. It is written after
 * WRITTEN is set and erased before that is cleared. Of readers the state has the XOR of a hash of
 * their ids. With a count of 1 the XOR tells whether a given reader is the only one; if it asks to
 * write, it would wait for itself, like a writer that locks twice (relock.c). A fiber that reads
 * says so in its record (reading.h); the tools find the readers there, and check them with the XOR.
 */
#include <errno.h>

#include <fiber/fiber.h>
#include <fiber/sync.h>

#include "base/check.h"
#include "layout/layout.h"
#include "choice.h"
#include "order.h"
#include "base/compiler.h"
#include "life/background.h"
#include "life/held.h"
#include "life/reading.h"
#include "sched/turn.h"
#include "sync/holder.h"
#include "sync/relock.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

/* The state: marks of the readers << MARK_SHIFT | flags | number of readers. */
#define WAITED	   (UINT64_C(1) << 31) /* the queue is not empty */
#define WRITTEN	   (UINT64_C(1) << 30)
#define READERS	   FIB_READERS_COUNT
#define MARK_SHIFT FIB_READERS_MARK

#define PAUSE 32u /* relaxes of 5-25 ns; see look_later() */

static uint64_t enter_reader(uint64_t state, uint64_t who)
{
	return (state + 1) ^ (uint64_t)fib_readers_mark(who) << MARK_SHIFT;
}

static uint64_t leave_reader(uint64_t state, uint64_t who)
{
	/* Another fiber may release a read lock, which breaks the XOR; it is reset at 0 readers. */
	state = (state - 1) ^ (uint64_t)fib_readers_mark(who) << MARK_SHIFT;
	return state & READERS ? state : state & WAITED;
}

static bool may_enter(uint64_t state, bool writes)
{
	return !(state & WRITTEN) && !(writes && state & READERS);
}

struct rw_waiter {
	struct fib_waiter waiter;
	bool writes;
};

/* Enter if nothing has changed since *state was read; else *state is what it is now. */
static fib_always_inline bool enter(struct fiber_rwlock *lock, uint64_t *state, uint64_t me,
				    bool writes)
{
	if (!fib_cas(&lock->state, state, writes ? WRITTEN : enter_reader(*state, me)))
		return false;
	if (writes)
		fib_store(&lock->owner, me);
	return true;
}

/*
 * Another caller has changed the state at the same moment. Leave the cache line to it for a while:
 * it does many operations on it in the time of one transfer. Returns the state after that.
 */
static fib_noinline uint64_t look_later(struct fiber_rwlock *lock)
{
	unsigned i;

	for (i = 0; i < PAUSE; i++)
		fib_relax();
	return fib_load(&lock->state);
}

/* Take the lock if that needs no waiting. */
static fib_always_inline bool take_now(struct fiber_rwlock *lock, uint64_t me, bool writes)
{
	uint64_t state = fib_load(&lock->state);

	while (!(state & WAITED) && may_enter(state, writes)) {
		if (fib_likely(enter(lock, &state, me, writes)))
			return true;
		state = look_later(lock);
	}
	return false;
}

/* Under the queue's lock: take the lock if that needs no waiting, else set WAITED. */
static bool take_or_announce(struct fiber_rwlock *lock, uint64_t me, bool writes)
{
	uint64_t state = fib_load(&lock->state);

	for (;;) {
		if (state & WAITED)
			return false;
		if (may_enter(state, writes)) {
			if (enter(lock, &state, me, writes))
				return true;
		} else if (fib_cas(&lock->state, &state, state | WAITED)) {
			return false;
		}
	}
}

/* Take the lock now, or join the queue. */
static bool take_or_join(struct fiber_rwlock *lock, struct rw_waiter *w)
{
	bool taken;

	fib_queue_lock(&lock->waiters);
	taken = take_or_announce(lock, w->waiter.who, w->writes);
	if (!taken)
		fib_queue_append(&lock->waiters, &w->waiter);
	fib_queue_unlock(&lock->waiters);
	return taken;
}

/* Returns why the caller would wait for itself, or NULL. */
static const char *waits_for_itself(struct fiber_rwlock *lock, bool writes)
{
	const uint64_t me = fib_caller(), state = fib_load(&lock->state);

	if (fib_load(&lock->owner) == me)
		return "is written by the caller already";
	if (writes && (state & READERS) == 1 && state >> MARK_SHIFT == fib_readers_mark(me))
		return "is read by the caller already, and by no other";
	return NULL;
}

/* Claim the first waiter if it can enter now. Returns whether to look at the next one. */
static bool let_in_first(struct fiber_rwlock *lock, struct fib_waiter *first,
			 struct fib_wake_list *list)
{
	const bool writes = fib_container(first, struct rw_waiter, waiter)->writes;
	const uint64_t who = first->who, state = fib_load(&lock->state);
	struct fib_parker *parker = first->parker;
	const struct fib_wake wake = {parker->blocks ? NULL : parker->fiber, NULL};

	if (!may_enter(state, writes))
		return false;
	if (!fib_queue_claim_next(&lock->waiters, list))
		return true;
	fib_wake_show(&wake);
	fib_store(&lock->state, writes ? state | WRITTEN : enter_reader(state, who));
	if (writes)
		fib_store(&lock->owner, who);
	return true;
}

/*
 * Let in the waiters at the head that can enter now. Under the queue's lock, with WAITED set. A
 * waiter is claimed before the lock's state is written, and is recorded as no longer waiting, so
 * that a reader never finds an owner that waits for its own lock. No claimed waiter runs before
 * fib_wake_all().
 */
static void let_in(struct fiber_rwlock *lock, struct fib_wake_list *list)
{
	struct fib_waiter *first;

	while ((first = fib_queue_first(&lock->waiters)) && let_in_first(lock, first, list))
		;
	if (!first)
		/* label: rwlock.state -- what was done under the queue's lock is visible. */
		fib_store_release(&lock->state, fib_load(&lock->state) & ~WAITED);
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
	if (take_or_join(lock, &w)) {
		fib_wait_abort(&w.waiter);
		return 0;
	}
	rc = fib_queue_wait(&lock->waiters, &w.waiter, deadline);
	if (rc < 0) {
		fib_queue_lock(&lock->waiters);
		if (fib_load(&lock->state) & WAITED)
			let_in(lock, &list);
		fib_queue_unlock(&lock->waiters);
		fib_wake_all(&list);
	}
	return rc;
}

/* Record a held write lock. */
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
	struct fiber *self = c ? c->current : NULL;
	const char *why;
	int rc = 0;

	if (c)
		fib_turn_count(c, self);
	if (take_now(lock, self ? self->id : fib_caller_thread(), writes)) {
		if (!writes && self)
			fib_reading_add(self, lock);
		return 0;
	}
	why = waits_for_itself(lock, writes);
	if (why)
		rc = fib_relock(writes ? "fiber_rwlock_wrlock" : "fiber_rwlock_rdlock", "rwlock",
				lock, why, deadline);
	if (rc == 0)
		rc = lock_contended(lock, writes, deadline);
	if (rc == 0 && !writes && self)
		fib_reading_add(self, lock);
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
	struct fiber *self;

	fib_choice(lock);
	fib_must_have(lock, "the rwlock");
	if (!take_now(lock, fib_caller(), false))
		return -EBUSY;
	self = fib_self();
	if (self)
		fib_reading_add(self, lock);
	fib_order_lock(lock, __builtin_return_address(0), false);
	return 0;
}

int fiber_rwlock_trywrlock(struct fiber_rwlock *lock)
{
	fib_choice(lock);
	fib_must_have(lock, "the rwlock");
	if (!take_now(lock, fib_caller(), true))
		return -EBUSY;
	note_held(lock, __builtin_return_address(0));
	return 0;
}

static _Noreturn void die_not_held(struct fiber_rwlock *lock, uint64_t me)
{
	char caller[FIB_HOLDER_TEXT], holder[FIB_HOLDER_TEXT];

	fib_holder_text(caller, me);
	fib_holder_text(holder, fib_load(&lock->owner));
	fib_die("fiber_rwlock_unlock: rwlock \"%.31s\" is unlocked by %s but held by %s",
		lock->name, caller, holder);
}

/*
 * Returns the state after me has unlocked; the owner's id is erased already. Ends the program if me
 * cannot unlock.
 */
static uint64_t after_unlock(struct fiber_rwlock *lock, uint64_t state, bool wrote, uint64_t me)
{
	if (wrote)
		return state & WAITED;
	if (!(state & READERS))
		die_not_held(lock, me);
	return leave_reader(state, me);
}

/*
 * The lock has waiters, or had some a moment ago. False: it has none any more, and is still held.
 * Freed under the queue's lock, it could be gone before that is unlocked.
 */
static fib_noinline bool unlock_waited(struct fiber_rwlock *lock, bool wrote, uint64_t me)
{
	struct fib_wake_list list = {NULL, NULL};
	uint64_t state;

	fib_queue_lock(&lock->waiters);
	state = fib_load(&lock->state);
	if (!(state & WAITED)) {
		fib_queue_unlock(&lock->waiters);
		return false;
	}
	fib_store(&lock->state, after_unlock(lock, state, wrote, me));
	let_in(lock, &list);
	fib_queue_unlock(&lock->waiters);
	fib_wake_all(&list);
	return true;
}

int fiber_rwlock_unlock(struct fiber_rwlock *lock)
{
	struct fib_carrier *c = fib_carrier_self();
	struct fiber *self = c ? c->current : NULL;
	const uint64_t me = self ? self->id : fib_caller_thread();
	uint64_t state;
	bool wrote;

	fib_choice(lock);
	fib_must_have(lock, "the rwlock");
	wrote = fib_load(&lock->owner) == me;
	fib_order_unlock(lock, wrote);
	if (wrote) {
		fib_store(&lock->owner, 0);
		if (self)
			fib_held_rwlock_released(self, lock);
	} else if (self) {
		fib_reading_remove(self, lock);
	}
	do {
		state = fib_load(&lock->state);
		while (!(state & WAITED)) {
			/* After the swap another caller may lock, unlock and free it. */
			if (fib_likely(fib_cas(&lock->state, &state,
					       after_unlock(lock, state, wrote, me))))
				return 0;
			state = look_later(lock);
		}
	} while (!unlock_waited(lock, wrote, me));
	return 0;
}
