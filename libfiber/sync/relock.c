/* SPDX-License-Identifier: MIT */
/*
 * relock.c - detect a caller that waits for a lock it holds itself
 *
 * Such a wait never ends unless it has a deadline. The check is made when a lock is about to wait
 * and uses the owner that every lock records. A lock that does not wait pays nothing.
 *
 * The policy is that of the caller's runtime. A plain thread uses the policy of the runtime that
 * started last. Before any runtime has started the policy is to abort.
 */
#include "sync/relock.h"

#include <errno.h>

#include <fiber/time.h>

#include "base/atomic.h"
#include "base/check.h"
#include "sched/sched.h"
#include "sync/holder.h"
#include "wait/wait.h"

static _Atomic uint32_t of_threads;

void fib_relock_set(struct fib_sched *s, enum fiber_relock_policy policy)
{
	s->relock_policy = (uint8_t)policy;
	fib_store(&of_threads, (uint32_t)policy);
}

int fib_relock(const char *call, const char *kind, const void *lock, const char *state,
	       int64_t deadline)
{
	struct fib_carrier *c = fib_carrier_self();
	const uint32_t policy = c ? c->sched->relock_policy : fib_load(&of_threads);
	char caller[FIB_HOLDER_TEXT];

	if (policy == FIBER_RELOCK_ERROR)
		return -EDEADLK;
	if (policy == FIBER_RELOCK_WAIT || deadline != FIBER_FOREVER)
		return 0;
	fib_holder_text(caller, fib_caller());
	fib_die("%s: %s: %s \"%.31s\" (%p) %s: it would wait for itself", caller, call, kind,
		(const char *)lock, lock, state);
}
