/* SPDX-License-Identifier: MIT */
/*
 * sole.c - which thread uses the library's objects alone, and the end of that
 *
 * A carrier that is the only one of the first runtime becomes the sole user. It stays so until
 * another thread is about to use a queue, mutex or parker: a plain thread, a carrier of another
 * runtime, a helper thread that wakes a fiber, the service thread. From then on objects are shared,
 * for the life of the process: a program that has done so once will do it again.
 *
 * Two flags, as in Dekker's algorithm: the sole thread stores that it is inside and then reads who
 * the user is. The other thread stores that this is ending and then reads whether it is inside. At
 * least one sees the other (sole.gap), if both execute a fence in between. The sole thread executes
 * none: the other one has the kernel make every thread execute it (fib_os_barrier()), as in
 * cancel.c. ("Biased locking": Dice, Moir and Scherer, "Quickly Reacquirable Locks", 2006.)
 *
 * What the sole thread did in its sections is visible to the other thread when it has seen the
 * thread outside (sole.left). A section is a few dozen instructions, but its thread may be
 * preempted in it, so the other one yields while it waits. It waits for nothing else. A signal
 * handler on the sole thread does not wait at all, since it may have interrupted a section: it uses
 * locked instructions, and each plain one of the section is complete or has not begun.
 *
 * To lock or unlock a mutex without waiters is a few instructions. Its section therefore has its own
 * two flags, in `mark`: the thread stores `inside` and then reads `alone` once. Such sections do not
 * nest, so there is no count. The other thread clears `alone` before the fence, and waits until both
 * `inside` are 0.
 *
 * Each access to a word that sections use is made in a section, or after fib_sole_enter() has
 * returned 0 or fib_sole_check() has returned.
 */
#include "core/sole.h"

#include "os/os.h"

#define NONE (FIB_SOLE_POSSIBLE ? FIB_SOLE_UNUSED : FIB_SOLE_SHARED)

struct fib_sole fib_sole = {.user = NONE};

struct fib_sole_mark *fib_sole_begin(void)
{
	uint64_t unused = FIB_SOLE_UNUSED, none = 0;

	if (!FIB_SOLE_POSSIBLE || fib_os_barrier_prepare() < 0 ||
	    !fib_cas(&fib_sole.thread, &none, fib_sole_thread()))
		return NULL;
	fib_store(&fib_sole.mark.alone, 1);
	if (fib_cas(&fib_sole.user, &unused, fib_sole_thread()))
		return &fib_sole.mark;
	fib_store(&fib_sole.mark.alone, 0);
	fib_store(&fib_sole.thread, 0);
	return NULL;
}

void fib_sole_finish(void)
{
	uint64_t me = fib_sole_thread();

	if (fib_load(&fib_sole.thread) != me)
		return;
	if (fib_cas(&fib_sole.user, &me, FIB_SOLE_UNUSED))
		fib_store(&fib_sole.mark.alone, 0);
	fib_store_release(&fib_sole.thread, 0);
}

void fib_sole_forget(void)
{
	fib_store(&fib_sole.mark.alone, 0);
	fib_store(&fib_sole.mark.inside, 0);
	fib_store(&fib_sole.user, NONE);
	fib_store(&fib_sole.thread, 0);
	fib_store(&fib_sole.inside, 0);
}

/* Wait until the sole thread has left its section and cannot enter another. */
static void end(void)
{
	_Atomic uint32_t never = 0;

	fib_store(&fib_sole.mark.alone, 0);
	/* label: sole.gap -- announced before `inside` is read. */
	fib_fence_seq();
	/*
	 * If the call was allowed at the beginning and is forbidden now: a store does not stay
	 * invisible for long.
	 */
	if (fib_os_barrier() < 0)
		fib_os_futex_wait(&never, 0, fib_os_now() + 1000000);
	/* label: sole.left */
	while (fib_load_acquire(&fib_sole.inside) || fib_load_acquire(&fib_sole.mark.inside))
		fib_os_yield();
}

fib_noinline void fib_sole_share(void)
{
	uint64_t user = fib_load(&fib_sole.user);

	if (fib_load(&fib_sole.thread) == fib_sole_thread())
		return;
	while (user != FIB_SOLE_SHARED) {
		const bool used = user != FIB_SOLE_UNUSED;

		/* Several threads may do this at a time: each waits for itself. */
		if (used && user != FIB_SOLE_ENDING &&
		    !fib_cas(&fib_sole.user, &user, FIB_SOLE_ENDING))
			continue;
		if (used) {
			end();
			user = FIB_SOLE_ENDING;
		}
		/* label: sole.shared */
		if (fib_cas(&fib_sole.user, &user, FIB_SOLE_SHARED))
			return;
	}
}
