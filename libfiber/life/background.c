/* SPDX-License-Identifier: MIT */
/*
 * background.c - fibers that do not keep their runtime alive
 *
 * A flusher that sleeps, writes and sleeps again shall not hold up the end of the program that it
 * serves. So background fibers are counted apart, and a runtime closes when only they are left.
 *
 * They cannot just be left where they are: a fiber that waits is linked into the queue of what it waits for,
 * by a node on its own stack, and that queue may be used after the runtime. The rule: who closes a runtime
 * cancels its background fibers. The wait each is in returns -ECANCELED, which takes it out of every queue,
 * and well-behaved ones end by themselves. One that goes on is told once more, by the next call that would
 * wait, or lets others run; the call after that does not return but ends the fiber as fiber_fail() would. So a loop
 * that looks at no result ends too, and only a fiber that computes without end, or blocks its carrier, holds
 * the finish up.
 *
 * A fiber that masks cancellations is neither told nor ended while it does: it cleans up. Its waits then hold the
 * finish up, so they should be short or have a deadline.
 *
 * A lock is never refused: who takes it for granted that he got it would unlock what he does not hold, and that
 * ends the program. The fiber ends there at once.
 *
 * A fiber is in the list from its submission to its end, so that whoever walks the list, under the lock, touches
 * no record that was given to somebody else. One that was counted in just before the runtime closed and
 * comes into the list just after the walk finds `finishing` set.
 */
#include "life/background.h"

#include <errno.h>

#include "os/spin.h"
#include "sched/sched.h"
#include "wait/wait.h"

/* Under the lock. */
static struct fib_list *list_of(struct fib_background *b)
{
	if (!b->list.next)
		fib_list_init(&b->list);
	return &b->list;
}

void fib_background_enter(struct fib_sched *s, struct fiber *fiber)
{
	struct fib_background *b = &s->background;

	fib_spin_lock(&b->lock);
	fib_list_append(list_of(b), &fiber->background);
	if (b->finishing)
		fib_cancel_mark(fiber, FIB_CANCELLED | FIB_CANCELLED_FINISH);
	fib_spin_unlock(&b->lock);
}

void fib_background_finish(struct fib_sched *s)
{
	struct fib_background *b = &s->background;
	struct fib_list *node;

	fib_spin_lock(&b->lock);
	b->finishing = true;
	fib_list_each (node, list_of(b)) {
		struct fiber *fiber = fib_container(node, struct fiber, background);

		fib_or(&fiber->cancelled, FIB_CANCELLED_FINISH);
		fiber_cancel(fiber);
	}
	fib_spin_unlock(&b->lock);
}

static _Noreturn void end(void)
{
	fiber_fail(-ECANCELED, "its runtime finished");
}

void fib_background_note_cancel(struct fiber *fiber)
{
	uint8_t cancelled = fib_load(&fiber->cancelled);

	if (!(cancelled & FIB_CANCELLED_FINISH) || cancelled & FIB_CANCEL_MASKED)
		return;
	/* What a destructor does while the fiber is unwound is its end already. */
	if (fiber->unwinds)
		return;
	if (cancelled & FIB_CANCELLED_REPORTED)
		end();
	fib_or(&fiber->cancelled, FIB_CANCELLED_REPORTED);
}

int fib_background_refuse(int error)
{
	struct fib_carrier *c = fib_carrier_self();
	struct fiber *fiber = c ? c->current : NULL;

	if (error == -ECANCELED && fiber && (fib_load(&fiber->cancelled) & FIB_CANCELLED_FINISH))
		end();
	return error;
}
