/* SPDX-License-Identifier: MIT */
/*
 * registration.c - give a descriptor to the poller, and know of which file it reports
 *
 * The program may close a descriptor with close(2), and its number then means another file. A
 * waiter must not sleep on a file that the poller does not have, nor get bytes of another file than
 * the one it waited for. So a descriptor that is not known to be new is registered again at each
 * wait, and the file's identity (fstat(2)) is compared before and after the wait.
 *
 * epoll knows a registration by number and file. Changing one succeeds only if the number means a
 * file that is registered under this number. If only one file can be, success also proves which
 * file it is: its identity was noted when it was registered first (`file`), and no fstat(2) is
 * needed before the wait. Nor is one after it: to add a registration that is there already fails,
 * changes nothing and costs less. It also tells files apart that have one identity (eventfds).
 *
 * Invariant: while `file` is set, the poller has no other file under this number.
 *
 * A file leaves the poller when its last descriptor is closed, or is dropped from it. If the program
 * replaced it and another descriptor, or another process, keeps it open, the poller still has it
 * under the old number. Each call finds out: changing or dropping finds no registration for the new
 * file, or adding adds it. From then on `replaced` is set, for good, and `file` never again: the
 * number may mean the old file once more (dup2(2)), and changing would succeed. Each wait on this
 * number then takes both fstat(2).
 */
#include "io/registration.h"

#include <errno.h>

#include "base/atomic.h"
#include "os/os.h"
#include "os/spin.h"
#include "watch/watch.h"

static int register_fd(struct fib_poller *p, int fd, uint64_t token, short events, bool again)
{
	if (p->ops->want)
		return p->ops->want(p, fd, token, events);
	return again && p->ops->rewatch ? p->ops->rewatch(p, fd, token)
					: p->ops->watch(p, fd, token);
}

static void lose_track(struct fib_descriptor *d)
{
	fib_store(&d->file, 0);
	fib_store(&d->replaced, 1);
}

/*
 * Record that s watches the descriptor. If several schedulers do, a close makes all of them drop
 * it.
 */
static void note(struct fib_descriptor *d, uint64_t serial)
{
	const uint64_t before = fib_load(&d->watched_by);
	const bool several = before && before != serial;

	if (several)
		fib_store(&d->file, 0);
	fib_store_release(&d->watched_by, several ? FIB_WATCH_SEVERAL : serial);
}

/* Under the gate. */
static int make(struct fib_sched *s, int fd, struct fib_descriptor *d, short events)
{
	const uint64_t watched_by = fib_load(&d->watched_by);
	const bool first = !watched_by && !fib_load(&d->fresh) && !fib_load(&d->replaced) &&
			   s->poller->ops->rewatch;
	const uint64_t file = first ? fib_os_identity(fd) : 0;
	const int rc = register_fd(s->poller, fd, fib_descriptor_token(fd, d), events,
				   watched_by == s->serial);

	if (rc < 0)
		return rc;
	if (rc > 0)
		lose_track(d);
	note(d, s->serial);
	/* If the number came to mean another file meanwhile, either may have been registered. */
	if (first && fib_os_identity(fd) == file)
		fib_store(&d->file, file);
	else if (first)
		lose_track(d);
	return rc;
}

fib_noinline int fib_registration_make(struct fib_sched *s, int fd, struct fib_descriptor *d,
				       short events, const struct fib_look *look,
				       uint64_t *ret_file)
{
	int rc;

	fib_store(&s->watching, 1);
	fib_spin_lock(&d->gate);
	rc = fib_load(&d->generation) == look->generation ? make(s, fd, d, events) : -EBADF;
	*ret_file = fib_load(&d->file);
	fib_spin_unlock(&d->gate);
	return rc;
}

fib_noinline bool fib_registration_same(struct fib_sched *s, int fd, struct fib_descriptor *d,
					uint64_t file)
{
	bool same = false, known;
	int rc;

	fib_spin_lock(&d->gate);
	known = fib_load(&d->file) == file && fib_load(&d->watched_by) == s->serial;
	if (known) {
		rc = s->poller->ops->holds(s->poller, fd, fib_descriptor_token(fd, d));
		same = rc == 0;
		if (rc > 0)
			lose_track(d);
	}
	fib_spin_unlock(&d->gate);
	return known ? same : fib_os_identity(fd) == file;
}

/* A poller may keep the file open, or another descriptor of the file may keep it in the poller. */
void fib_registration_drop(int fd, struct fib_descriptor *d)
{
	const uint64_t serial = fib_load(&d->watched_by);
	struct fib_carrier *c = fib_carrier_self();
	int rc = 0;

	if (c && serial == c->sched->serial)
		rc = c->sched->poller->ops->forget(c->sched->poller, fd);
	else if (serial)
		rc = fib_watch_forget(serial, fd);
	if (rc < 0)
		lose_track(d);
	fib_store(&d->file, 0);
	fib_store(&d->watched_by, 0);
}
