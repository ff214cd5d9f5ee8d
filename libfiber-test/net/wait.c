/* SPDX-License-Identifier: MIT */
/*
 * wait.c - a blocking call of the program in a schedule lets other fibers run
 *
 * In production such a call blocks its carrier, and fibers on other carriers go on. So the calling
 * fiber is set aside as a pinned one is, until the descriptor is ready. While the
 * main thread of a whole program waits, all fibers run. On another thread, such as the helper of
 * fiber_block(), the call blocks.
 */
#include "net/wait.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>

#include "net/real.h"
#include "os/aside.h"
#include "os/virtual.h"

bool fib_net_waits(int fd, int flags)
{
	int status;

	if (flags & MSG_DONTWAIT)
		return false;
	status = fib_real()->fcntl(fd, F_GETFL);
	return status >= 0 && !(status & O_NONBLOCK);
}

bool fib_net_ready(int fd, short events)
{
	struct pollfd p = {.fd = fd, .events = events};

	return fib_real()->poll(&p, 1, 0) != 0;
}

int64_t fib_net_deadline(int64_t timeout)
{
	const int64_t now = fib_virtual_now();

	return timeout > 0 && timeout < INT64_MAX - now ? now + timeout : INT64_MAX;
}

static int milliseconds(int64_t deadline)
{
	const int64_t left = deadline - fib_virtual_now();

	if (deadline == INT64_MAX)
		return -1;
	return left > INT64_C(1000000) * INT_MAX ? INT_MAX : (int)((left + 999999) / 1000000);
}

int fib_net_poll(struct pollfd *fds, nfds_t n, int64_t deadline)
{
	int rc = fib_real()->poll(fds, n, 0);

	/* Another fiber may take what is there before this one runs. */
	while (rc == 0 && deadline > fib_virtual_now()) {
		if (!fib_aside_may())
			return fib_real()->poll(fds, n, milliseconds(deadline));
		fib_aside_for_fds(fds, n, deadline);
		rc = fib_real()->poll(fds, n, 0);
	}
	return rc;
}

int fib_net_wait(int fd, short events, int64_t deadline)
{
	struct pollfd p = {.fd = fd, .events = events};

	return fib_net_poll(&p, 1, deadline) == 0 ? -EAGAIN : 0;
}

void fib_net_wait_before(int fd, short events, int flags)
{
	const int error = errno;

	if (!(flags & MSG_DONTWAIT) && fib_virtual_here() && fib_aside_may() &&
	    !fib_net_ready(fd, events) && fib_net_waits(fd, flags))
		fib_net_wait(fd, events, INT64_MAX);
	errno = error;
}
