/* SPDX-License-Identifier: MIT */
/*
 * by_id.c - doing something to a fiber of which only the number is known
 *
 * While its record is held (core/hazard.c) it is nobody else's, so a flag that is raised and a wait that is claimed are
 * those of the fiber that was meant. Making it run comes after the release: a fiber whose wait was claimed has
 * not ended, and does not before it runs; and the word of a thread that blocks is never unmapped. So a record is not
 * kept back for longer than it takes to look at it.
 *
 * To make a fiber run is to put it into a queue, under its lock. The service thread takes no lock that a fiber needs
 * while it looks at fibers, which goes on for as long as somebody watches. This is no look: it is done once for each
 * request that an administrator has allowed, and is what any thread of the program does that wakes a fiber.
 *
 * A wake-up is for fiber_park alone. Whoever waits there looks again at why it waits. Elsewhere a wait that returns says
 * that something was granted, a lock or a byte, which here nobody has granted.
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

/* What fiber_unpark() does, the other way round: a token is left only for a wait that has been claimed. The fiber does
 * not run before it is made to, and finds it. */
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
