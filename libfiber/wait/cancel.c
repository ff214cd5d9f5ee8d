/* SPDX-License-Identifier: MIT */
/*
 * cancel.c - ask a fiber to end
 *
 * Cancelling a fiber sets a flag in its record that is never cleared, and claims its current wait.
 * That wait returns -ECANCELED, and so does every wait that it starts afterwards. Only wait.c knows
 * the flag and the outcome; no primitive does. A waker treats a cancelled waiter like one that
 * timed out: it goes on to the next waiter.
 *
 * Race: between reading the flag and being armed. The waiter arms and then reads the flag once more
 * (fib_wait()); the canceller sets the flag and then looks whether a wait is armed. With a full
 * fence between write and read on both sides at least one sees the other (pairs: cancel.gap). If
 * both do, the compare-and-swap decides: the waiter retracts its wait, or the canceller claims it
 * and makes the fiber runnable.
 *
 * There are millions of waits per cancellation, so the canceller pays for both fences: if it sees
 * nothing armed, it has the kernel execute a fence on every thread of the process, and looks again.
 * If the kernel cannot, the waiters execute a fence themselves. (Asymmetric fences: Dice, Huang and
 * Yang, "Asymmetric Dekker Synchronization", 2001.)
 *
 * Two waits cannot be cancelled and are armed as uncancellable. A waiter of a condition takes its
 * mutex back in any case, and a fiber that waits for a group waits for fibers that use its memory.
 *
 * A fiber may mask cancellations for a while, to clean up. Its waits are then armed as
 * uncancellable. The mask is a bit in the flag's byte, and both sides change the byte with one
 * atomic operation each. So a starting wait reads one byte, masked or not, and neither side undoes
 * the other's change.
 *
 * No request is lost at the end of the mask. If the next wait finds the flag, it does not start. If
 * the flag is set later, that wait is armed normally, and the two sides meet as above. A canceller
 * that has seen an uncancellable wait before looks again after the fence. A cancellation does not
 * end a masked wait either: it claims the word that it has read, and an earlier word has another
 * ticket.
 *
 * A canceller may ask for a wait during which a flag of the fiber is set. It reads the word, then the
 * flag, and claims that word (pairs: cancel.only_if). The fiber changes the flag before it arms the
 * word, with release: so the flag is that of this wait or of a later one. Of a later one the claim
 * fails, because its word has another ticket.
 *
 * The armed word says how the waiter sleeps. The canceller may read nothing else that a waiter
 * writes: before the claim the waiter may go and start another wait, and a blocked thread may go
 * after the claim too.
 */
#include <fiber/fiber.h>

#include "base/check.h"
#include "choice.h"
#include "order.h"
#include "core/hazard.h"
#include "layout/own_tls.h"
#include "os/os.h"
#include "sched/sched.h"
#include "wait/wait.h"

_Atomic uint32_t fib_cancel_fenced_by_waiters = 1;

void fib_cancel_prepare(void)
{
	const bool cannot = fib_os_barrier_prepare() < 0;

	fib_store(&fib_cancel_fenced_by_waiters, cannot);
	if (cannot)
		fib_hazard_fence_ends();
}

/* Wait until every waiter has passed its fence, whether it executes one or not. */
static void fence_everybody(void)
{
	_Atomic uint32_t never = 0;

	if (fib_load(&fib_cancel_fenced_by_waiters) || fib_os_barrier() == 0)
		return;
	/*
	 * The call worked in fib_cancel_prepare() but has been forbidden since. Sleep 1 ms: no CPU
	 * keeps a store back that long.
	 */
	fib_os_futex_wait(&never, 0, fib_os_now() + 1000000);
}

static bool claim(struct fiber *fiber, const bool *only_if, struct fib_wake *ret)
{
	struct fib_parker *p = &fiber->parker;
	/* label: cancel.only_if -- the flag that is read next is of this wait or of a later one */
	uint32_t word = fib_load_acquire(&p->word);
	enum fib_outcome armed;

	armed = (enum fib_outcome)(word & FIB_OUTCOME_MASK);
	if (armed != FIB_OUTCOME_ARMED && armed != FIB_OUTCOME_ARMED_PARK &&
	    armed != FIB_OUTCOME_ARMED_BLOCKING)
		return false; /* not waiting, already decided, or uncancellable */
	if (only_if && !fib_load((const _Atomic bool *)only_if))
		return false;
	ret->fiber = armed == FIB_OUTCOME_ARMED_BLOCKING ? NULL : fiber;
	ret->word = &p->word;
	return fib_parker_claim(p, word, FIB_OUTCOME_CANCELLED);
}

bool fib_cancel_claim(struct fiber *fiber, struct fib_wake *ret)
{
	fib_cancel_mark(fiber, FIB_CANCELLED);
	fib_fence_seq(); /* label: cancel.gap -- the flag is set before the word is read */
	if (claim(fiber, NULL, ret))
		return true;
	fence_everybody(); /* pairs: cancel.gap */
	return claim(fiber, NULL, ret);
}

int fiber_cancel(struct fiber *fiber)
{
	struct fib_wake wake;

	fib_choice(fiber);
	fib_must_have(fiber, "the fiber");
	if (!fib_observe(&fiber->id))
		fib_die("fiber_cancel: fiber \"%s\" has ended and was joined or detached before",
			fiber->name);
	if (fib_cancel_claim(fiber, &wake))
		fib_wake(&wake, false);
	return 0;
}

/* A wait that starts at the same time is not ended, as that of a thread that a signal interrupts. */
void fiber_own_tls_interrupt(struct fiber *fiber, const bool *only_if)
{
	struct fib_wake wake;

	if (claim(fiber, only_if, &wake))
		fib_wake(&wake, false);
}

bool fiber_cancelled(void)
{
	struct fib_carrier *c = fib_carrier_self();

	fib_choice(NULL);
	return c && c->current &&
	       fib_order_acquire_if((fib_load_acquire(&c->current->cancelled) & FIB_CANCELLED) != 0,
				    &c->current->cancelled);
}

void fiber_cancel_mask(void)
{
	struct fiber *fiber = fib_self();

	if (!fiber)
		return;
	if (fiber->masks == UINT8_MAX)
		fib_die("fiber_cancel_mask: fiber %llu \"%s\" has masked cancellations %u times",
			(unsigned long long)fiber->id, fiber->name, (unsigned)fiber->masks);
	if (fiber->masks++ == 0)
		fib_or(&fiber->cancelled, FIB_CANCEL_MASKED);
}

void fiber_cancel_unmask(void)
{
	struct fiber *fiber = fib_self();

	if (!fiber)
		return;
	if (!fiber->masks)
		fib_die("fiber_cancel_unmask: fiber %llu \"%s\" does not mask cancellations",
			(unsigned long long)fiber->id, fiber->name);
	if (--fiber->masks == 0)
		fib_and(&fiber->cancelled, (uint8_t)~FIB_CANCEL_MASKED);
}

void fiber_cancel_masked_scope_end(const int *scope)
{
	(void)scope;
	fiber_cancel_unmask();
}

void fib_cancel_unmask_all(struct fiber *fiber)
{
	fiber->masks = 0;
	fib_and(&fiber->cancelled, (uint8_t)~FIB_CANCEL_MASKED);
}
