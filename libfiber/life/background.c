/* SPDX-License-Identifier: MIT */
/*
 * background.c - fibers that do not keep their runtime alive
 *
 * A flusher that sleeps, writes and sleeps again must not delay the end of the program that it
 * serves. So background fibers are counted separately, and a runtime closes when only they are
 * left.
 *
 * They cannot be abandoned: a waiting fiber is linked into the queue of what it waits for by a node
 * on its own stack, and that queue may be used after the runtime. The rule: the thread that closes
 * a runtime cancels its background fibers. The current wait of each returns -ECANCELED, which
 * removes it from every queue, and a well-behaved fiber then exits.
 *
 * A fiber that goes on is cancelled once more by its next call that would wait or yield. The call
 * after that does not return but ends the fiber as fiber_fail() would. So a loop that ignores
 * results ends too. Only a fiber that computes without end, or blocks its carrier, delays the
 * finish.
 *
 * A fiber that masks cancellations is neither cancelled nor ended meanwhile: it cleans up. Its
 * waits then delay the finish, so they should be short or have a deadline.
 *
 * A lock call does not return a refusal: a caller that ignores the result would unlock what it does
 * not hold, and that ends the program. The fiber ends there at once.
 *
 * A fiber is in the list from its submission to its end, so a walk of the list, under the lock,
 * touches no reused record. A fiber that was counted just before the runtime closed, and enters the
 * list just after the walk, finds `finishing` set.
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
	/* The destructors that run during an unwinding are already part of the fiber's end. */
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
