/* SPDX-License-Identifier: MIT */
/*
 * hazard.c - keep one record from being given to another fiber
 *
 * A caller that cancels a fiber has its handle, and with it the guarantee that the fiber is not
 * joined or detached meanwhile. The control socket has only an id. Between "this record has that
 * id" and "set the flag in it" the fiber may exit and its record may become another fiber's, which
 * would then be cancelled. Reading the id again afterwards would only detect the mistake. Records
 * are never unmapped, but that does not say whose they are.
 *
 * So the record is held first: its address is published, and only then is its id read. The exit of
 * a fiber clears the id first, and then checks whether the record is held. With a fence on both
 * sides at least one side sees the other (hazard.gap). Either the holder finds the id cleared and
 * touches nothing. Or the exit finds the record held, marks the word, and leaves it to the holder
 * to give the record away. Neither side waits for the other: a carrier does not wait for the
 * holder, as it would for a lock, and the holder does not wait for a fiber.
 *
 * Fibers exit all the time and a hold is rare, so the holder pays for both fences: it has the
 * kernel make every thread execute a fence, as in cancel.c. An exit then only reads a word that is
 * 0 and in every CPU's cache. If the kernel cannot do this, a mark that stays in the word sends
 * exits the long way, with a fence.
 */
#include "core/hazard.h"

#include "core/registry.h"
#include "os/os.h"

#define LEFT   ((uintptr_t)1) /* the fiber has exited: give the record away on release */
#define FENCED ((uintptr_t)2) /* exits execute a fence */
#define MARKS  (LEFT | FENCED)

struct fib_hazard fib_hazard;

void fib_hazard_fence_ends(void)
{
	fib_or(&fib_hazard.word, FENCED);
}

void fib_hazard_forget(void)
{
	fib_and(&fib_hazard.word, FENCED);
}

/* Wait until every exit that began before either has read the word or will see what was written
 * here. */
static void fence_everybody(void)
{
	_Atomic uint32_t never = 0;

	fib_fence_seq(); /* label: hazard.gap -- announced before the id is read */
	if (fib_load(&fib_hazard.word) & FENCED || fib_os_barrier() == 0)
		return;
	/* The call worked before and has been forbidden since. A store does not stay invisible for
	 * long: */
	fib_hazard_fence_ends();
	fib_os_futex_wait(&never, 0, fib_os_now() + 1000000);
}

struct fiber *fib_hazard_take(uint64_t index, uint64_t id)
{
	struct fiber *fiber = fib_registry_at(index);

	fib_or(&fib_hazard.word, (uintptr_t)fiber);
	fence_everybody();
	if (fib_observe(&fiber->id) == id)
		return fiber;
	fib_hazard_release(fiber);
	return NULL;
}

void fib_hazard_release(struct fiber *fiber)
{
	uintptr_t word = fib_and(&fib_hazard.word, FENCED);

	if (!(word & LEFT))
		return;
	/*
	 * This lock is one that carriers take, and code that inspects fibers takes no such lock.
	 * But this caller has acted on a fiber, as any thread of the program may, and takes such a
	 * lock anyway: that of the queue into which a woken fiber is put (wait/by_id.c). It is a
	 * spin lock for a few instructions (os/spin.h): no holder waits, so this thread never waits
	 * for one that hangs, and a carrier waits for this thread no longer than for another
	 * carrier that fetches a record. It happens once for each request with admin rights, and
	 * only if the fiber has exited within the microseconds of the hold.
	 */
	fiber->link = NULL;
	fib_registry_give(fiber, fiber, 1);
}

bool fib_hazard_passed_on(struct fiber *fiber)
{
	uintptr_t word;

	fib_fence_seq(); /* pairs: hazard.gap -- if the kernel does not fence for us */
	word = fib_load(&fib_hazard.word);
	do {
		if ((word & ~MARKS) != (uintptr_t)fiber)
			return false;
		/* Release: what the fiber left in the record is visible to its next owner, through
		 * the holder. */
	} while (!fib_cas(&fib_hazard.word, &word, word | LEFT));
	return true;
}
