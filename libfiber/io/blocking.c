/* SPDX-License-Identifier: MIT */
/*
 * blocking.c - block the thread until a descriptor is ready
 *
 * A plain thread blocks in poll(2). So does a pinned fiber that the policy lets wait: the carrier
 * that it blocks may be the one that would poll the poller, and then no other thread does.
 */
#include "io/blocking.h"

#include <errno.h>
#include <poll.h>

#include "layout/layout.h"
#include "os/os.h"
#include "wait/wait.h"

int fib_block_for_fd(int fd, short events, int64_t deadline)
{
	struct pollfd p = {.fd = fd, .events = events};
	int n = fib_os_poll(&p, 1, deadline);

	if (n < 0)
		return n;
	if (n == 0)
		return -ETIMEDOUT;
	return p.revents & POLLNVAL ? -EBADF : 0;
}

int fib_block_for_fd_pinned(int fd, short events, int64_t deadline)
{
	uint64_t event;
	int rc = fib_block_for_fd(fd, events, 0);

	if (rc != -ETIMEDOUT || deadline <= 0)
		return rc;
	rc = fib_wait_enter_pinned(FIB_WAIT_FD, (uint32_t)fd | (uint64_t)(uint16_t)events << 32,
				   deadline, &event);
	if (rc < 0)
		return rc;
	rc = fib_block_for_fd(fd, events, deadline);
	fib_wait_leave_pinned(event);
	return rc;
}
