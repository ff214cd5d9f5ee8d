/* SPDX-License-Identifier: MIT */
/*
 * cancel.c - asking a fiber to end
 *
 * To cancel a fiber is to raise a flag in its record that is never lowered, and to claim the wait it is
 * in. Its wait then returns -ECANCELED, and so does every wait that it begins afterwards: wait.c, through
 * which all waiting goes, knows the flag and the outcome, and no primitive knows either. A claimed wait was
 * not granted, and whoever grants meets a claimed waiter as he meets one that timed out: he goes on to the next.
 *
 * The danger is the gap between reading the flag and being armed. The two sides write one word each and
 * then read the other's: the waiter arms and then reads the flag once more, in fib_wait(); we raise the
 * flag and then look whether anything is armed. With a full fence between write and read on both
 * sides one of the two always sees the other (pairs: cancel.gap). When both do, the compare-and-swap
 * decides: the waiter takes its wait back, or we have claimed it and make it run.
 *
 * There are millions of waits for each cancellation, so we bear the cost of both fences: who sees nothing
 * armed has the kernel make every thread of the process fence, and looks again. Where the kernel cannot, waiters
 * fence themselves. (Asymmetric fences: Dice, Huang and Yang, "Asymmetric Dekker Synchronization", 2001.)
 *
 * Two waits are not ours to end. A condition's waiter takes its mutex back whatever happens, and whoever waits
 * for a group waits for fibers that use his memory. Both arm themselves as firm.
 *
 * A fiber may mask cancellations for a while, to clean up. Its waits are armed as firm then, and the flag is left
 * where it is. The mask is a bit beside the flag, in one byte that both sides change with one atomic operation each: so
 * a wait that begins reads one byte, whether masked or not, and neither side undoes what the other did. No
 * request is lost when the mask goes. The flag is raised before or after the next wait looks for it. Before: the
 * wait sees it and does not begin. After: that wait is armed as ever, and the two sides meet as above; that
 * whoever cancels may have seen the firm wait before it changes nothing, because he looks again behind the fence.
 * Nor does a cancellation end a masked wait: it claims the word that it has read, and one that it read earlier has
 * another ticket.
 *
 * The armed word says how the waiter sleeps. Nothing else that a waiter writes may be read here: before
 * the claim it may be gone and wait for something else, and after it too when it blocks a thread.
 */
#include <fiber/fiber.h>

#include "base/check.h"
#include "core/hazard.h"
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

/* Let the waiter be past its fence, whether it has one or not. */
static void fence_everybody(void)
{
	_Atomic uint32_t never = 0;

	if (fib_load(&fib_cancel_fenced_by_waiters) || fib_os_barrier() == 0)
		return;
	/* Somebody has forbidden since what worked when we prepared. What is stored is not kept back for long: */
	fib_os_futex_wait(&never, 0, fib_os_now() + 1000000);
}

static bool claim(struct fiber *fiber, struct fib_wake *ret)
{
	struct fib_parker *p = &fiber->parker;
	uint32_t word = fib_load_acquire(&p->word);
	enum fib_outcome armed;

	armed = (enum fib_outcome)(word & FIB_OUTCOME_MASK);
	if (armed != FIB_OUTCOME_ARMED && armed != FIB_OUTCOME_ARMED_PARK &&
	    armed != FIB_OUTCOME_ARMED_BLOCKING)
		return false; /* not waiting, decided already, or firm */
	ret->fiber = armed == FIB_OUTCOME_ARMED_BLOCKING ? NULL : fiber;
	ret->word = &p->word;
	return fib_parker_claim(p, word, FIB_OUTCOME_CANCELLED);
}

bool fib_cancel_claim(struct fiber *fiber, struct fib_wake *ret)
{
	fib_cancel_mark(fiber, FIB_CANCELLED);
	fib_fence_seq(); /* label: cancel.gap -- the flag is up before the word is read */
	if (claim(fiber, ret))
		return true;
	fence_everybody(); /* pairs: cancel.gap */
	return claim(fiber, ret);
}

int fiber_cancel(struct fiber *fiber)
{
	struct fib_wake wake;

	fib_must_have(fiber, "the fiber");
	if (!fib_observe(&fiber->id))
		fib_die("fiber_cancel: fiber \"%s\" has ended and was joined or detached before",
			fiber->name);
	if (fib_cancel_claim(fiber, &wake))
		fib_wake(&wake, false);
	return 0;
}

bool fiber_cancelled(void)
{
	struct fib_carrier *c = fib_carrier_self();

	return c && c->current && (fib_load_acquire(&c->current->cancelled) & FIB_CANCELLED) != 0;
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
