/* SPDX-License-Identifier: MIT */
/*
 * choose.c - the poller is epoll; in place of libfiber/poll/choose.c
 *
 * io_uring would work while fibers run, in an order of its own.
 *
 * A descriptor is given to the poller when a call found that it is not ready. That may be due to another
 * process: from then on the schedule may depend on real time.
 */
#include "poll/choose.h"

#include "net/inside.h"
#include "net/numbers.h"

static struct fib_poller_ops ops;

static int watch(struct fib_poller *p, int fd, uint64_t token)
{
	fib_inside_waits(fd);
	fib_numbers_note(fd);
	return fib_poller_epoll.watch(p, fd, token);
}

static int rewatch(struct fib_poller *p, int fd, uint64_t token)
{
	fib_inside_waits(fd);
	fib_numbers_note(fd);
	return fib_poller_epoll.rewatch(p, fd, token);
}

int fib_poller_choose(struct fib_poller **ret, struct fib_poller_note *ret_note)
{
	const int rc = fib_poller_epoll.open(ret);

	ret_note->text[0] = 0;
	if (rc == 0) {
		ops = fib_poller_epoll;
		ops.watch = watch;
		ops.rewatch = rewatch;
		(*ret)->ops = &ops;
	}
	return rc;
}
