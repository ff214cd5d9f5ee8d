/* SPDX-License-Identifier: MIT */
/*
 * sem.c - a counting semaphore
 *
 * A post goes directly to the longest waiter and not through the count, so a later caller cannot
 * take it from the waiter.
 *
 * The count changes under the queue's lock. A caller of wait first reads it without the lock. The
 * answer only selects the path: a caller that expects to wait prepares its wait and then takes the
 * lock once, not twice.
 */
#include <errno.h>

#include <fiber/sync.h>

#include "base/check.h"
#include "choice.h"
#include "order.h"
#include "sched/turn.h"
#include "sync/touch.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

int fiber_sem_init(struct fiber_sem *sem, uint64_t count)
{
	fib_must_have(sem, "the semaphore");
	fib_queue_lock(&sem->waiters);
	fib_store(&sem->count, count);
	/* A semaphore that starts above 0 is a lock or a limit: the fiber that has taken it may post it. */
	sem->waiters.own = count ? FIB_TOUCHER_SEVERAL : 0;
	fib_queue_unlock(&sem->waiters);
	return 0;
}

/* Take one now, or join the queue (w not NULL). */
static fib_always_inline bool take(struct fiber_sem *sem, struct fib_waiter *w)
{
	const uint32_t section = fib_queue_enter(&sem->waiters);
	bool taken;

	taken = fib_load(&sem->count) > 0;
	if (taken)
		fib_store(&sem->count, fib_load(&sem->count) - 1);
	else if (w)
		fib_queue_append(&sem->waiters, w);
	if (taken)
		fib_order_acquire(sem);
	fib_queue_leave(&sem->waiters, section);
	return taken;
}

int fiber_sem_wait(struct fiber_sem *sem, int64_t deadline)
{
	struct fib_carrier *c = fib_carrier_self();
	struct fib_waiter w;
	int rc;

	fib_choice(sem);
	fib_must_have(sem, "the semaphore");
	if (c)
		fib_turn_count(c, c->current);
	if (fib_load(&sem->count) && take(sem, NULL))
		return 0;
	rc = fib_wait_begin(&w, FIB_WAIT_SEM, sem, 0, deadline);
	if (rc < 0)
		return rc;
	if (take(sem, &w)) {
		fib_wait_abort(&w);
		return 0;
	}
	return fib_queue_wait(&sem->waiters, &w, deadline);
}

int fiber_sem_trywait(struct fiber_sem *sem)
{
	fib_choice(sem);
	fib_must_have(sem, "the semaphore");
	return take(sem, NULL) ? 0 : -EAGAIN;
}

uint64_t fiber_sem_value(struct fiber_sem *sem)
{
	uint64_t count;

	fib_choice(sem);
	fib_must_have(sem, "the semaphore");
	fib_queue_lock(&sem->waiters);
	count = fib_load(&sem->count);
	fib_queue_unlock(&sem->waiters);
	return count;
}

int fiber_sem_post(struct fiber_sem *sem)
{
	struct fib_wake wake;
	bool claimed = false;
	uint32_t section;
	int rc = 0;

	fib_choice(sem);
	fib_must_have(sem, "the semaphore");
	fib_order_release(sem);
	section = fib_queue_enter(&sem->waiters);
	fib_touch(&sem->waiters);
	while (!claimed && fib_queue_first(&sem->waiters))
		claimed = fib_queue_claim_first_in(&sem->waiters, section, &wake);
	if (!claimed && fib_load(&sem->count) == UINT64_MAX)
		rc = -EOVERFLOW;
	else if (!claimed)
		fib_store(&sem->count, fib_load(&sem->count) + 1);
	fib_queue_leave(&sem->waiters, section);
	if (claimed)
		fib_wake(&wake, true);
	return rc;
}
