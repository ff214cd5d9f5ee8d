/* SPDX-License-Identifier: MIT */
/*
 * hold.c - keeping one record from being given to another fiber
 *
 * Who cancels a fiber has its handle, and with it the promise that it is not joined or detached meanwhile. The control
 * socket has only a number. Between "this record has that id" and "raise the flag in it" the fiber may end and its
 * record become another fiber's, which would then be the one that is cancelled. Looking at the id once more afterwards
 * would only tell of the mistake. Records are never unmapped, but that says nothing about whose they are.
 *
 * So the record is held first: its address is announced, and only then its id is read. Whoever ends a fiber takes the id
 * away first, and then looks whether the record is announced. Two words, written and read crosswise: with a fence on
 * both sides one of the two sees the other (hold.gap). Either we find the id gone and touch nothing; or the
 * fiber's end finds the record held, and does not give it away but leaves that to us, with a mark in the word. Nobody
 * waits for anybody: no carrier for us, as it would if this were a lock, nor we for a fiber.
 *
 * Fibers end all the time, and a hold is rare: so we bear the cost of both fences and have the kernel make every thread
 * fence, as in cancel.c. What is left for an end is to read a word that is 0 and in everybody's cache. Where the kernel
 * cannot, a mark that stays in the word sends ends the long way, with a fence.
 */
#include "core/hold.h"

#include "core/registry.h"
#include "os/os.h"

#define LEFT   ((uintptr_t)1) /* its fiber has ended: give it away on release */
#define FENCED ((uintptr_t)2) /* ends fence */
#define MARKS  (LEFT | FENCED)

struct fib_held fib_hold;

void fib_hold_fence_ends(void)
{
	fib_or(&fib_hold.word, FENCED);
}

void fib_hold_forget(void)
{
	fib_and(&fib_hold.word, FENCED);
}

/* Let every end that began before be past its look at the word, or see what we have written. */
static void fence_everybody(void)
{
	_Atomic uint32_t never = 0;

	fib_fence_seq(); /* label: hold.gap -- announced before the id is read */
	if (fib_load(&fib_hold.word) & FENCED || fib_os_barrier() == 0)
		return;
	/* Somebody has forbidden since what worked before. What is stored is not kept back for long: */
	fib_hold_fence_ends();
	fib_os_futex_wait(&never, 0, fib_os_now() + 1000000);
}

struct fiber *fib_hold_take(uint64_t index, uint64_t id)
{
	struct fiber *fiber = fib_registry_at(index);

	fib_or(&fib_hold.word, (uintptr_t)fiber);
	fence_everybody();
	if (fib_observe(&fiber->id) == id)
		return fiber;
	fib_hold_release(fiber);
	return NULL;
}

void fib_hold_release(struct fiber *fiber)
{
	uintptr_t word = fib_and(&fib_hold.word, FENCED);

	if (!(word & LEFT))
		return;
	/*
	 * The lock is one that carriers take, and who looks at fibers takes none of those. But we have acted on one, as
	 * any thread of the program may, and are in for such a lock anyway: the queue's into which a fiber is put
	 * that is made to run (sched/act.c). It is a spin lock for a few instructions (os/spin.h): no holder waits, so we
	 * wait for nobody who hangs, and a carrier waits for us no longer than for another carrier that was about to
	 * fetch a record. That happens once for each request of somebody with admin rights, and only if the fiber has ended
	 * within the microseconds of the hold.
	 */
	fiber->link = NULL;
	fib_registry_give(fiber, fiber, 1);
}

bool fib_hold_passed_on(struct fiber *fiber)
{
	uintptr_t word;

	fib_fence_seq(); /* pairs: hold.gap -- where nobody makes us fence */
	word = fib_load(&fib_hold.word);
	do {
		if ((word & ~MARKS) != (uintptr_t)fiber)
			return false;
		/* Release: what the fiber left in the record is there for whoever gets it from the holder. */
	} while (!fib_cas(&fib_hold.word, &word, word | LEFT));
	return true;
}
