/* SPDX-License-Identifier: MIT */
/*
 * cond.c - a condition variable
 *
 * The waiter joins the queue before it releases the mutex. A signal that is sent under the mutex
 * afterwards finds the waiter.
 *
 * A broadcast that is sent while the mutex is held wakes no fiber. It moves them to the queue of the
 * mutex (mutex.c), which lets them run one after another. Awake, all of them but one would only find
 * the mutex held and wait again. Waiters with different mutexes are woken, and each locks its own.
 */
#include <fiber/sync.h>

#include "base/check.h"
#include "choice.h"
#include "fault.h"
#include "sched/sched.h"
#include "sync/mutex.h"
#include "sync/touch.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

struct cond_waiter {
	struct fib_waiter waiter;
	struct fiber_mutex *mutex;
};

/* End the wait without a signal. */
static int wake_spuriously(struct fiber_cond *cond, struct fiber_mutex *mutex, const void *at)
{
	fib_mutex_unlock(mutex, fib_carrier_self());
	fib_choice(cond);
	fib_mutex_relock(mutex, fib_carrier_self(), at);
	return 0;
}

int fiber_cond_wait(struct fiber_cond *cond, struct fiber_mutex *mutex, int64_t deadline)
{
	struct cond_waiter w;
	uint32_t section;
	int rc;

	fib_choice(cond);
	fib_must_have(cond, "the condition");
	fib_must_have(mutex, "the mutex");
	if (fib_fault_spurious())
		return wake_spuriously(cond, mutex, __builtin_return_address(0));
	rc = fib_wait_begin(&w.waiter, FIB_WAIT_COND, cond, 0, deadline);
	if (rc < 0)
		return rc;
	w.mutex = mutex;
	section = fib_queue_enter(&cond->waiters);
	fib_queue_append(&cond->waiters, &w.waiter);
	fib_queue_leave(&cond->waiters, section);
	fib_mutex_unlock(mutex, fib_carrier_self());
	rc = fib_queue_wait(&cond->waiters, &w.waiter, deadline);
	fib_mutex_relock(mutex, fib_carrier_self(), __builtin_return_address(0));
	return rc;
}

int fiber_cond_signal(struct fiber_cond *cond)
{
	uint32_t section;

	fib_choice(cond);
	fib_must_have(cond, "the condition");
	section = fib_queue_enter(&cond->waiters);
	fib_touch(&cond->waiters);
	fib_queue_wake_one_in(&cond->waiters, section);
	return 0;
}

static struct fiber_mutex *mutex_of(const struct fib_waiter *w)
{
	return fib_container(w, const struct cond_waiter, waiter)->mutex;
}

/* The mutex of all waiters in list; NULL: they use several, or there are fewer than two. */
static struct fiber_mutex *shared_mutex(const struct fib_wake_list *list)
{
	struct fiber_mutex *mutex = list->first != list->last ? mutex_of(list->first) : NULL;
	const struct fib_waiter *w;

	for (w = list->first; mutex && w; w = fib_waiter_of(w->link.next))
		if (mutex_of(w) != mutex)
			mutex = NULL;
	return mutex;
}

/* The last waiter woken may free the condition, so claim all waiters before waking the first. */
int fiber_cond_broadcast(struct fiber_cond *cond)
{
	struct fib_wake_list list = {NULL, NULL};
	struct fiber_mutex *mutex;

	fib_choice(cond);
	fib_must_have(cond, "the condition");
	fib_queue_lock(&cond->waiters);
	fib_touch(&cond->waiters);
	fib_queue_claim_all(&cond->waiters, &list);
	fib_queue_unlock(&cond->waiters);
	mutex = shared_mutex(&list);
	if (mutex)
		fib_mutex_move_waiters(mutex, &list);
	fib_wake_all(&list);
	return 0;
}
