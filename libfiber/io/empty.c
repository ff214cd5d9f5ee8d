/* SPDX-License-Identifier: MIT */
/*
 * empty.c - do not try to read what is probably empty
 *
 * A fiber that answers messages finds nothing at the first try of each read. The try is a system
 * call, and so is the registration before the wait that follows (registration.c). The registration
 * asks the same question: epoll reports again what is there already. So after MANY reads in a row
 * that found nothing, a read registers and waits first, and tries when it is woken.
 *
 * If there were bytes, the read has gone through the poller without need. So after SKIPS reads the
 * next one tries first, and if it finds something, the count starts again.
 *
 * This is right only if poll(2) finds each state in which a read returns at once. Pipes and UNIX
 * sockets are such; TCP sockets have SO_RCVLOWAT, terminals have VMIN. And the file must be the one
 * whose reads were counted, or a read of another that must fail would wait instead: the
 * registration knows the file.
 */
#include "io/empty.h"

#include <errno.h>
#include <poll.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "io/registration.h"
#include "io/table.h"
#include "os/os.h"

/* Counted reads in a row; UNFIT: another kind of file. */
#define MANY  8u
#define SKIPS 32u
#define UNFIT 255u

/* fib_descriptor.empty: above the count the generation, since a late store may meet another one. */
#define COUNT_BITS 8
#define COUNT_MASK 255u

static uint32_t count_of(const struct fib_look *look)
{
	return (look->empty ^ look->generation << COUNT_BITS) & ~COUNT_MASK
		       ? 0
		       : look->empty & COUNT_MASK;
}

static void set(struct fib_descriptor *d, const struct fib_look *look, uint32_t count)
{
	fib_store(&d->empty, look->generation << COUNT_BITS | count);
}

fib_noinline void fib_empty_found(int fd, const struct fib_look *look)
{
	struct fib_descriptor *d = fib_descriptor_find(fd);
	const uint32_t count = count_of(look);

	if (!d || !fib_load(&d->file))
		return;
	if (count == MANY + SKIPS)
		set(d, look, MANY);
	else if (count < MANY)
		set(d, look, count + 1 == MANY && !fib_os_poll_is_exact(fd) ? UNFIT : count + 1);
}

fib_noinline void fib_empty_not(int fd, const struct fib_look *look)
{
	struct fib_descriptor *d = fib_descriptor_find(fd);

	if (d && count_of(look) != UNFIT)
		set(d, look, 0);
}

fib_noinline int fib_empty_await(int fd, const struct fib_look *look, int64_t deadline)
{
	struct fib_carrier *c = fib_carrier_self();
	struct fiber *fiber = c ? c->current : NULL;
	struct fib_descriptor *d = fib_descriptor_find(fd);
	const uint32_t count = count_of(look);
	int rc;

	if (count < MANY || count == UNFIT || deadline <= 0)
		return 0;
	if (!fiber || fiber->pins || !d || !fib_registration_knows(c->sched, d))
		return 0;
	if (count == MANY + SKIPS)
		return 0;
	set(d, look, count + 1);
	rc = fib_descriptor_wait(fd, POLLIN, look, deadline);
	return rc == -EBADF || rc == -ECANCELED ? rc : 1;
}
