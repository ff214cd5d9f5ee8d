/* SPDX-License-Identifier: MIT */
/*
 * predicate.c - wait until a predicate is true, by polling
 *
 * Some conditions become true without code that could wake a waiter: memory that a device or
 * another process writes, a counter of a library that cannot be changed. This is the only wait that
 * polls.
 *
 * The waiter itself calls the predicate: at once, then after each of YIELDS yields (so what another
 * fiber is about to do is seen without delay), then after sleeps that double from NAP_FIRST to
 * NAP_LONGEST. So a long wait costs at most a thousand calls a second and ends at most a
 * millisecond late.
 *
 * From the first sleep on the tools see one wait: its age and its deadline are the caller's, not
 * those of the current sleep.
 */
#include <errno.h>

#include <fiber/fiber.h>
#include <fiber/time.h>

#include "base/check.h"
#include "choice.h"
#include "core/registry.h"
#include "os/os.h"
#include "sched/sched.h"
#include "wait/wait.h"

#define YIELDS	    32u
#define NAP_FIRST   INT64_C(10000)   /* ns */
#define NAP_LONGEST INT64_C(1000000) /* ns */

/* The state of one polling wait. */
struct polling {
	bool (*ready)(void *);
	void *arg;
	struct fiber *fiber; /* NULL: a thread */
	int64_t deadline;
	int64_t began; /* coarse clock */
	int64_t now;   /* after the last call of the predicate */
	int64_t nap;   /* length of the next sleep */
};

/*
 * Returns 0 when ready, -ECANCELED, -ETIMEDOUT, or -EAGAIN to go on. A true predicate comes before
 * the other results.
 */
static int look(struct polling *p)
{
	if (p->ready(p->arg))
		return 0;
	if (p->fiber && fib_cancel_due(p->fiber))
		return -ECANCELED;
	p->now = fiber_now();
	return p->now >= p->deadline ? -ETIMEDOUT : -EAGAIN;
}

/* When the next sleep ends. */
static int64_t next_look(struct polling *p)
{
	int64_t nap = p->nap;

	p->nap = nap * 2 < NAP_LONGEST ? nap * 2 : NAP_LONGEST;
	return nap < p->deadline - p->now ? p->now + nap : p->deadline;
}

/* By a thread, or a pinned fiber that blocks its carrier. */
static int poll_blocking(struct polling *p)
{
	int rc;

	do {
		_Atomic uint32_t never = 0;
		int64_t until = next_look(p);

		while (fib_os_now() < until)
			fib_os_futex_wait(&never, 0, until);
		rc = look(p);
	} while (rc == -EAGAIN);
	return rc;
}

/* Asks the policy once for the whole wait. */
static int poll_pinned(struct polling *p)
{
	uint64_t event;
	int rc = fib_wait_enter_pinned(FIB_WAIT_PREDICATE, 0, p->deadline, &event);

	if (rc < 0)
		return rc;
	rc = poll_blocking(p);
	fib_wait_leave_pinned(event);
	return rc;
}

static int take_nap(struct polling *p, struct fiber *fiber)
{
	int64_t until = next_look(p);
	struct fib_waiter w;
	/* Readers see how long the fiber has waited for the predicate, not for this sleep. */
	int rc = fib_wait_begin(&w, FIB_WAIT_PREDICATE, p->arg, (uint64_t)p->began, until);

	if (rc == 0) {
		/*
		 * The heap alone ends this wait, and the deadline is added to the heap only in
		 * fib_wait().
		 */
		fiber->wait_deadline = p->deadline;
		rc = fib_wait(&w, until);
	}
	return rc == -ETIMEDOUT ? 0 : rc;
}

static int poll_parked(struct polling *p, struct fiber *fiber)
{
	int rc = -EAGAIN;
	unsigned i;

	for (i = 0; i < YIELDS && rc == -EAGAIN; i++) {
		fib_yield(fib_carrier_self(), fiber);
		rc = look(p);
	}
	while (rc == -EAGAIN) {
		rc = take_nap(p, fiber);
		if (rc == 0)
			rc = look(p);
	}
	return rc;
}

int fiber_wait_until(bool (*ready)(void *), void *arg, int64_t deadline)
{
	struct fiber *fiber = fiber_self();
	struct polling p = {
		.ready = ready, .arg = arg, .fiber = fiber, .deadline = deadline, .nap = NAP_FIRST};
	int rc;

	fib_choice(arg);
	fib_must_have(ready, "the predicate");
	rc = look(&p);
	if (rc == -ECANCELED)
		fib_tell_cancelled(fiber);
	if (rc != -EAGAIN)
		return rc;
	p.began = fib_coarse_now();
	if (!fiber)
		return poll_blocking(&p);
	return fiber->pins ? poll_pinned(&p) : poll_parked(&p, fiber);
}
