/* SPDX-License-Identifier: MIT */
/*
 * aside.c - the calling fiber waits for descriptors as if it blocked a carrier of its own
 *
 * The main thread of a whole program runs fibers meanwhile. The wait of a fiber is in its record, so that reports name the descriptor, unless libfiber has recorded it.
 */
#include "os/aside.h"

#include <errno.h>

#include "core/registry.h"
#include "explore/whole.h"
#include "os/pinned.h"
#include "os/virtual.h"
#include "sched/loop.h"
#include "sched/sched.h"
#include "wait/wait.h"

static void record(struct fiber *fiber, const struct pollfd *fds, nfds_t n, int64_t deadline)
{
	if (n == 1)
		fib_wait_record(fiber, FIB_WAIT_FD, NULL,
				(uint32_t)fds->fd | (uint64_t)(uint16_t)fds->events << 32,
				deadline);
	else
		fib_wait_record(fiber, FIB_WAIT_SELECT, NULL, n | (uint64_t)n << 32, deadline);
}

static void set_aside(struct fib_pinned_sleeper *p)
{
	struct fiber *fiber = p->fiber;
	const bool recorded = fib_load(&fiber->wait_kind) != FIB_WAIT_NONE;

	if (!recorded)
		record(fiber, p->fds, p->count, p->deadline);
	fib_pinned_add(p);
	fib_switch_out(fiber);
	if (!recorded)
		fib_store(&fiber->wait_kind, FIB_WAIT_NONE);
}

bool fib_aside_may(void)
{
	return fib_self() || (fib_whole() && fib_virtual_here() && !fib_virtual_follows());
}

int fib_aside_for_fds(struct pollfd *fds, nfds_t n, int64_t deadline)
{
	struct fib_pinned_sleeper p = {
		.deadline = deadline, .fiber = fib_self(), .fds = fds, .count = n};

	if (p.fiber)
		set_aside(&p);
	else
		fib_loop_wait(&p);
	return p.deadline <= fib_virtual_now() ? -ETIMEDOUT : 0;
}
