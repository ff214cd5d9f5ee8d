/* SPDX-License-Identifier: MIT */
/*
 * generation.c - a descriptor number is closed and reused
 *
 * The number may be reused while an event for the old descriptor is on its way. Each entry counts
 * its generations, and the token carries the generation: an event with an old one is dropped.
 *
 * It may also be reused between a caller's try and its wait. The caller must not register the new
 * descriptor with the token of the old one: the new owner would get no events. Nor may it register
 * the old descriptor again after the poller has dropped it: a poller that keeps the file open would
 * keep it, and the peer would never learn of the close. So registering and dropping are done under
 * a lock (the gate). Under it registering reads the generation again, and dropping changes it.
 *
 * Waiters are woken after each change and find that the generation differs from the one they noted.
 */
#include "io/descriptor.h"

#include <errno.h>

#include "base/atomic.h"
#include "io/registration.h"
#include "io/table.h"
#include "io/waiters.h"
#include "os/spin.h"

int fib_descriptor_notice(int fd)
{
	struct fib_descriptor *d = fib_descriptor_make(fd);

	if (!d)
		return fib_descriptor_possible(fd) ? -ENOMEM : -EBADF;
	/*
	 * A close passes the gate too, so it comes after what the caller has done with fd so far.
	 */
	fib_spin_lock(&d->gate);
	fib_spin_unlock(&d->gate);
	return 0;
}

bool fib_descriptor_same(int fd, const struct fib_look *look)
{
	struct fib_descriptor *d = fib_descriptor_find(fd);

	/* pairs: descriptor.look */
	return (d ? fib_load_acquire(&d->generation) : 0) == look->generation;
}

static void wake_both(struct fib_descriptor *d)
{
	fib_descriptor_wake_side(&d->reading, FIB_EVERY_EVENT);
	fib_descriptor_wake_side(&d->writing, FIB_EVERY_EVENT);
}

/*
 * Start a new generation; events on their way for the old one are ignored. A caller that registers
 * the old descriptor does so before the poller drops it, or is refused.
 */
static void renew(int fd, struct fib_descriptor *d, uint32_t fresh)
{
	fib_spin_lock(&d->gate);
	fib_registration_drop(fd, d);
	fib_store(&d->fresh, fresh);
	fib_store(&d->last, (uint8_t)0);
	fib_store(&d->drained, 0);
	fib_store(&d->plain, (uint8_t)0);
	fib_store(&d->empty, 0);
	fib_add(&d->generation, 1); /* label: descriptor.look */
	fib_spin_unlock(&d->gate);
	wake_both(d);
}

void fib_descriptor_opened(int fd)
{
	struct fib_descriptor *d = fib_descriptor_make(fd);

	if (d)
		renew(fd, d, 1);
}

void fib_descriptor_forget(int fd)
{
	struct fib_descriptor *d = fib_descriptor_find(fd);

	if (d)
		renew(fd, d, 0);
}

/*
 * Between fib_descriptor_forget() and close(2) the number still works. A caller that tried and
 * waited then has joined the new generation, and no edge of the closed descriptor will wake it; it
 * registered the closed descriptor. The number may be in use again by now. Its waiters are woken
 * and register it again, unless it is known to be new.
 */
void fib_descriptor_closed(int fd)
{
	struct fib_descriptor *d = fib_descriptor_find(fd);

	if (!d)
		return;
	/* A caller that is registering fd at this moment has not recorded that yet. */
	fib_spin_lock(&d->gate);
	if (!fib_load(&d->fresh))
		fib_registration_drop(fd, d);
	fib_spin_unlock(&d->gate);
	wake_both(d);
}
