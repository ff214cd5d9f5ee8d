/* SPDX-License-Identifier: MIT */
/* pinned.c - pinned fibers that wait, and the thread that waits; last in first */
#include "os/pinned.h"

#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic.h"
#include "net/inside.h"
#include "os/virtual.h"
#include "sched/ready.h"

static struct fib_pinned_sleeper *sleepers;

/* Past the functions that take libc's place in the program (net/). */
static bool any_ready(const struct fib_pinned_sleeper *p)
{
	struct timespec now = {0, 0};

	return syscall(SYS_ppoll, p->fds, p->count, &now, NULL, 0) != 0;
}

bool fib_pinned_over(const struct fib_pinned_sleeper *p)
{
	if (p->deadline <= fib_virtual_now())
		return true;
	return p->word ? fib_load_acquire(p->word) != p->expected : any_ready(p);
}

const struct fib_pinned_sleeper *fib_pinned_first(void)
{
	return sleepers;
}

void fib_pinned_add(struct fib_pinned_sleeper *p)
{
	unsigned long i;

	p->next = sleepers;
	sleepers = p;
	/* That a descriptor is not ready yet may be due to another process. */
	for (i = 0; !p->word && i < p->count; i++)
		if (p->fds[i].fd >= 0)
			fib_inside_waits(p->fds[i].fd);
}

void fib_pinned_remove(struct fib_pinned_sleeper *p)
{
	struct fib_pinned_sleeper **at;

	for (at = &sleepers; *at != p; at = &(*at)->next)
		;
	*at = p->next;
}

int64_t fib_pinned_gather(void)
{
	struct fib_pinned_sleeper **at = &sleepers, *p;
	int64_t nearest = INT64_MAX;

	while ((p = *at)) {
		if (p->fiber && fib_pinned_over(p)) {
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
