/* SPDX-License-Identifier: MIT */
/*
 * park.c - calls of a fiber about itself: yield, park, sleep, pin
 *
 * Race: fiber_unpark() writes a token and fiber_park() arms its word. The parking fiber arms and
 * then looks for a token; the unparker stores the token and then looks whether the fiber is armed.
 * At least one of them sees the other (pairs: park.token).
 */
#include <errno.h>

#include <fiber/fiber.h>
#include <fiber/runtime.h>
#include <fiber/time.h>

#include "base/check.h"
#include "choice.h"
#include "order.h"
#include "sched/sched.h"
#include "wait/wait.h"

struct fiber *fiber_self(void)
{
	struct fib_carrier *c = fib_carrier_self();

	return c ? c->current : NULL;
}

struct fiber_runtime *fiber_runtime_self(void)
{
	struct fib_carrier *c = fib_carrier_self();

	return c ? c->sched->runtime : NULL;
}

int fiber_yield(void)
{
	struct fib_carrier *c = fib_carrier_self();
	struct fiber *fiber = c ? c->current : NULL;

	fib_choice(NULL);
	if (!fiber || fiber->pins)
		return -EPERM;
	fib_yield(c, fiber);
	return 0;
}

int fiber_park(int64_t deadline)
{
	struct fiber *fiber = fiber_self();
	struct fib_waiter w;
	int rc;

	fib_choice(NULL);
	if (!fiber || fiber->pins)
		return -EPERM;
	for (;;) {
		/* Acquire: what the unparker did before is visible. */
		if (fib_load(&fiber->token) && fib_swap(&fiber->token, 0)) {
			fib_order_acquire(&fiber->token);
			return 0;
		}
		rc = fib_wait_begin(&w, FIB_WAIT_PARK, NULL, 0, deadline);
		if (rc < 0)
			return rc;
		fib_fence_seq(); /* label: park.token -- armed before the token is read */
		if (fib_load(&fiber->token) && fib_wait_retract(&w))
			continue;
		rc = fib_wait(&w, deadline);
		if (rc < 0)
			return rc;
		/*
		 * Woken: look for the token. There may be none: an earlier park took it before its
		 * unparker came to look whether the fiber is armed.
		 */
	}
}

int fiber_unpark(struct fiber *fiber)
{
	uint32_t word;

	fib_choice(fiber);
	fib_must_have(fiber, "the fiber");
	fib_order_release(&fiber->token);
	fib_swap_seq(&fiber->token, 1);
	fib_fence_seq(); /* pairs: park.token */
	word = fib_load_acquire(&fiber->parker.word);
	if (fib_parker_parks(word) && fib_parker_claim(&fiber->parker, word, FIB_OUTCOME_WOKEN))
		fib_ready(fiber, true);
	return 0;
}

/* Inlined, so that a backtrace shows which of the two public calls was made. */
static fib_always_inline int sleep_until(int64_t deadline)
{
	struct fib_waiter w;
	int rc = fib_wait_begin(&w, FIB_WAIT_SLEEP, NULL, 0, deadline);

	if (rc == 0)
		rc = fib_wait(&w, deadline);
	return rc == -ETIMEDOUT ? 0 : rc;
}

int fiber_sleep_until(int64_t deadline)
{
	fib_choice(NULL);
	return sleep_until(deadline);
}

int fiber_sleep(int64_t ns)
{
	fib_choice(NULL);
	return sleep_until(ns <= 0 ? 0 : fiber_after(ns));
}

void fiber_pin(void)
{
	struct fiber *fiber = fiber_self();

	if (!fiber)
		return;
	if (fiber->pins == UINT16_MAX)
		fib_die("fiber_pin: fiber %llu \"%s\" is pinned %u times", /* missing unpins */
			(unsigned long long)fiber->id, fiber->name, (unsigned)fiber->pins);
	fiber->pins++;
}

void fiber_unpin(void)
{
	struct fiber *fiber = fiber_self();

	if (!fiber)
		return;
	if (!fiber->pins)
		fib_die("fiber_unpin: fiber %llu \"%s\" is not pinned",
			(unsigned long long)fiber->id, fiber->name);
	fiber->pins--;
}

void fiber_pinned_scope_end(const int *scope)
{
	(void)scope;
	fiber_unpin();
}

bool fiber_can_yield(void)
{
	struct fiber *fiber = fiber_self();

	return fiber && !fiber->pins;
}
