/* SPDX-License-Identifier: MIT */
/*
 * generation.c - a number is closed, and stands for another descriptor
 *
 * That may happen while an event for the old descriptor is under way. Each entry counts its
 * generations and the token carries one: a stale event is dropped. It may also happen between
 * somebody's try and his wait; he must not give the poller the new descriptor with the old one's token, or its owner would
 * hear of nothing. Nor the old one once more, after the poller has let go of it: a poller that keeps the file open would keep it,
 * and the other end never hear that it was closed. So the generation is read again, and changed, under a lock that is held
 * while the poller is told, or lets go (the gate).
 *
 * Those who wait are woken after each change, and find another generation than they had noted.
 */
#include "io/descriptor.h"

#include <errno.h>

#include "base/atomic.h"
#include "io/table.h"
#include "io/waiters.h"
#include "os/spin.h"
#include "poll/poller.h"
#include "sched/sched.h"
#include "watch/watch.h"

int fib_descriptor_notice(int fd)
{
	struct fib_descriptor *d = fib_descriptor_make(fd);

	if (!d)
		return fib_descriptor_possible(fd) ? -ENOMEM : -EBADF;
	/* Whoever closes it passes here too: what the caller has done with the number so far comes before that. */
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

/* Have the poller let go of it, under the gate: it may keep the file open; another descriptor may stand for the file too
 * and keep it in the poller. */
static void let_go(int fd, struct fib_descriptor *d)
{
	const uint64_t serial = fib_load(&d->watched_by);
	struct fib_carrier *c = fib_carrier_self();

	if (c && serial == c->sched->serial)
		c->sched->poller->ops->forget(c->sched->poller, fd);
	else if (serial)
		fib_watch_forget(serial, fd);
	fib_store(&d->watched_by, 0);
}

static void wake_both(struct fib_descriptor *d)
{
	fib_descriptor_wake_side(&d->reading, FIB_EVERY_EVENT);
	fib_descriptor_wake_side(&d->writing, FIB_EVERY_EVENT);
}

/* A new generation: nothing that was under way for the old one counts. Whoever comes to tell the poller of the old one has
 * done so before the poller lets go, or is refused. */
static void renew(int fd, struct fib_descriptor *d, uint32_t fresh)
{
	fib_spin_lock(&d->gate);
	let_go(fd, d);
	fib_store(&d->fresh, fresh);
	fib_store(&d->last, 0);
	fib_store(&d->drained, 0);
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

/* Between forget and close(2) the number still works: whoever tried and came to wait then has joined the
 * new generation, and no edge of a closed descriptor will wake him. And what he gave to the poller was the closed one. It may
 * be another by now which is waited for; but for one that is known to be new its waiters are woken, and give it anew. */
void fib_descriptor_closed(int fd)
{
	struct fib_descriptor *d = fib_descriptor_find(fd);

	if (!d)
		return;
	/* Whoever is telling the poller at this moment has not noted yet that he did. */
	fib_spin_lock(&d->gate);
	if (!fib_load(&d->fresh))
		let_go(fd, d);
	fib_spin_unlock(&d->gate);
	wake_both(d);
}
