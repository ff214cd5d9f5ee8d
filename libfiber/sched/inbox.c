/* SPDX-License-Identifier: MIT */
/* inbox.c - a list under a lock; the count lets a reader skip an empty one without the lock */
#include "sched/inbox.h"

#include "base/tls.h"
#include "os/spin.h"

void fib_inbox_put(struct fib_inbox *q, struct fiber *fiber)
{
	fiber->link = NULL;
	fib_tls_enter();
	fib_spin_lock(&q->lock);
	if (q->last)
		q->last->link = fiber;
	else
		q->first = fiber;
	q->last = fiber;
	fib_store(&q->count, fib_load(&q->count) + 1);
	fib_spin_unlock(&q->lock);
	fib_tls_leave();
}

struct fiber *fib_inbox_take(struct fib_inbox *q)
{
	struct fiber *fiber;

	if (fib_inbox_empty(q))
		return NULL;
	fib_spin_lock(&q->lock);
	fiber = q->first;
	if (fiber) {
		q->first = fiber->link;
		if (!q->first)
			q->last = NULL;
		fib_store(&q->count, fib_load(&q->count) - 1);
	}
	fib_spin_unlock(&q->lock);
	return fiber;
}

bool fib_inbox_empty(struct fib_inbox *q)
{
	/* A caller that must not miss a fiber executes a fence first (pairs: idle.gap). */
	return fib_load(&q->count) == 0;
}
