/* SPDX-License-Identifier: MIT */
/*
 * aside.c - the calling fiber waits for descriptors as if it blocked a carrier of its own
 *
 * Its wait is in its record, so that reports name the descriptor, unless libfiber has recorded it.
 */
#include "os/aside.h"

#include <errno.h>

#include "core/registry.h"
#include "os/pinned.h"
#include "os/virtual.h"
#include "sched/sched.h"
#include "wait/wait.h"

static void record(struct fiber *fiber, const struct pollfd *fds, nfds_t n, int64_t deadline)
{
	if (n == 1)
		fib_wait_record(fiber, FIB_WAIT_FD, NULL,
				(uint32_t)fds->fd | (uint64_t)(uint16_t)fds->events << 32,
				deadline);
	else
		fib_wait_record(fiber, FIB_WAIT_SELECT, NULL, n, deadline);
}

int fib_aside_for_fds(struct pollfd *fds, nfds_t n, int64_t deadline)
{
	struct fiber *fiber = fib_self();
	struct fib_pinned_sleeper p = {
		.deadline = deadline, .fiber = fiber, .fds = fds, .count = n};
	const bool recorded = fib_load(&fiber->wait_kind) != FIB_WAIT_NONE;

	if (!recorded)
		record(fiber, fds, n, deadline);
	fib_pinned_add(&p);
	fib_switch_out(fiber);
	if (!recorded)
		fib_store(&fiber->wait_kind, FIB_WAIT_NONE);
	return p.deadline <= fib_virtual_now() ? -ETIMEDOUT : 0;
}
