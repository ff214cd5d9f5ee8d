/* SPDX-License-Identifier: MIT */
/* pinned.c - pinned fibers that wait, last in first */
#include "os/pinned.h"

#include "base/atomic.h"
#include "os/virtual.h"
#include "sched/ready.h"

static struct fib_pinned_sleeper *sleepers;

bool fib_pinned_over(const struct fib_pinned_sleeper *p)
{
	return fib_load_acquire(p->word) != p->expected || p->deadline <= fib_virtual_now();
}

void fib_pinned_add(struct fib_pinned_sleeper *p)
{
	p->next = sleepers;
	sleepers = p;
}

int64_t fib_pinned_gather(void)
{
	struct fib_pinned_sleeper **at = &sleepers, *p;
	int64_t nearest = INT64_MAX;

	while ((p = *at)) {
		if (fib_pinned_over(p)) {
			*at = p->next;
			fib_ready_add(p->fiber);
			continue;
		}
		if (p->deadline < nearest)
			nearest = p->deadline;
		at = &p->next;
	}
	return nearest;
}
