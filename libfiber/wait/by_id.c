/* SPDX-License-Identifier: MIT */
/*
 * by_id.c - cancel or wake a fiber that is known only by its number
 *
 * While the record is held (core/hazard.c) it is not reused, so the flag raised and the wait
 * claimed are those of the right fiber. The fiber is made runnable after the release: a fiber whose
 * wait was claimed cannot exit before it runs, and the word of a blocked thread is never unmapped.
 * So a record is held back only briefly.
 *
 * Making a fiber runnable takes the lock of a queue. While the service thread looks at fibers, for
 * as long as a tool watches, it takes no lock that a fiber needs. A wake-up by id is not such a
 * look: it is done once per request that an administrator has allowed, and is what any thread does
 * that wakes a fiber.
 *
 * Only fiber_park() can be woken. A fiber there checks again why it waits. Elsewhere a wait that
 * returns 0 means that a lock or a byte was granted, and nothing was granted here.
 */
#include "wait/by_id.h"

#include <errno.h>

#include "core/hazard.h"
#include "sched/sched.h"
#include "wait/wait.h"

static bool is_dead(struct fiber *fiber)
{
	return fib_load(&fiber->state) == FIBER_DEAD;
}

int fib_cancel_by_id(uint64_t index, uint64_t id)
{
	struct fiber *fiber = fib_hazard_take(index, id);
	struct fib_wake wake;
	int rc = -ESRCH;

	if (!fiber)
		return rc;
	if (!is_dead(fiber))
		rc = fib_cancel_claim(fiber, &wake);
	fib_hazard_release(fiber);
	if (rc > 0)
		fib_wake(&wake, false);
	return rc;
}

/*
 * fiber_unpark() in reverse order: the token is stored only if the wait was claimed. The fiber does
 * not run before it is made runnable, and finds the token then.
 */
static int give_token(struct fiber *fiber)
{
	uint32_t word = fib_load_acquire(&fiber->parker.word);

	if (!fib_parker_parks(word) || !fib_parker_claim(&fiber->parker, word, FIB_OUTCOME_WOKEN))
		return -EINVAL;
	fib_swap_seq(&fiber->token, 1);
	return 0;
}

int fib_wake_by_id(uint64_t index, uint64_t id)
{
	struct fiber *fiber = fib_hazard_take(index, id);
	int rc = -ESRCH;

	if (!fiber)
		return rc;
	if (!is_dead(fiber))
		rc = give_token(fiber);
	fib_hazard_release(fiber);
	if (rc == 0)
		fib_ready(fiber, false);
	return rc;
}
