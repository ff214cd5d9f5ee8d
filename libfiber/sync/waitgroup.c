/* SPDX-License-Identifier: MIT */
/*
 * waitgroup.c - wait until a number of operations are done
 *
 * The count changes under the queue's lock. The call that takes it to 0 claims all waiters. A wait
 * that finds 0 takes the lock too: the caller that made it 0 has then released the lock, and the
 * waiter may free the waitgroup.
 */
#include <errno.h>

#include <fiber/sync.h>

#include "base/check.h"
#include "choice.h"
#include "order.h"
#include "sync/holder.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

static _Noreturn void die_below_zero(struct fiber_waitgroup *group, const char *call,
				     uint64_t count, uint64_t less)
{
	char caller[FIB_HOLDER_TEXT];

	fib_holder_text(caller, fib_caller());
	fib_die("%s: %s takes %llu from waitgroup \"%.31s\", which counts %llu", call, caller,
		(unsigned long long)less, group->name, (unsigned long long)count);
}

static void take_away(struct fiber_waitgroup *group, uint64_t less, const char *call)
{
	struct fib_wake_list list = {NULL, NULL};

	fib_order_release(group);
	fib_queue_lock(&group->waiters);
	if (group->count < less)
		die_below_zero(group, call, group->count, less);
	group->count -= less;
	if (!group->count)
		fib_queue_claim_all(&group->waiters, &list);
	fib_queue_unlock(&group->waiters);
	fib_wake_all(&list);
}

int fiber_waitgroup_add(struct fiber_waitgroup *group, int64_t n)
{
	int rc = 0;

	fib_choice(group);
	fib_must_have(group, "the waitgroup");
	if (n < 0) {
		take_away(group, -(uint64_t)n, "fiber_waitgroup_add");
		return 0;
	}
	fib_queue_lock(&group->waiters);
	if (group->count > UINT64_MAX - (uint64_t)n)
		rc = -EOVERFLOW;
	else
		group->count += (uint64_t)n;
	fib_queue_unlock(&group->waiters);
	return rc;
}

int fiber_waitgroup_done(struct fiber_waitgroup *group)
{
	fib_choice(group);
	fib_must_have(group, "the waitgroup");
	take_away(group, 1, "fiber_waitgroup_done");
	return 0;
}

/* Returns whether the count is 0. If not, join the queue (if w is not NULL). */
static bool is_done(struct fiber_waitgroup *group, struct fib_waiter *w)
{
	bool done;

	fib_queue_lock(&group->waiters);
	done = !group->count;
	if (!done && w)
		fib_queue_append(&group->waiters, w);
	if (done)
		fib_order_acquire(group);
	fib_queue_unlock(&group->waiters);
	return done;
}

int fiber_waitgroup_wait(struct fiber_waitgroup *group, int64_t deadline)
{
	struct fib_waiter w;
	int rc;

	fib_choice(group);
	fib_must_have(group, "the waitgroup");
	if (is_done(group, NULL))
		return 0;
	rc = fib_wait_begin(&w, FIB_WAIT_WAITGROUP, group, 0, deadline);
	if (rc < 0)
		return rc;
	if (is_done(group, &w)) {
		fib_wait_abort(&w);
		return 0;
	}
	rc = fib_queue_wait(&group->waiters, &w, deadline);
	if (rc == 0)
		fib_order_acquire(group);
	return rc;
}
