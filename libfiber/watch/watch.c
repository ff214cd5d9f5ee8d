/* SPDX-License-Identifier: MIT */
/* watch.c - reach the poller of another scheduler */
#include "watch/watch.h"

#include "os/spin.h"
#include "sched/sched.h"

static struct {
	_Atomic uint32_t lock; /* held for at most one call of each poller */
	struct fib_sched *first;
} list;

void fib_watch_add(struct fib_sched *s)
{
	fib_spin_lock(&list.lock);
	s->next_watching = list.first;
	list.first = s;
	fib_spin_unlock(&list.lock);
}

void fib_watch_remove(struct fib_sched *s)
{
	struct fib_sched **at;

	fib_spin_lock(&list.lock);
	for (at = &list.first; *at && *at != s; at = &(*at)->next_watching)
		;
	/* In a forked child the list is empty, and its parent's runtime is not found. */
	if (*at)
		*at = s->next_watching;
	fib_spin_unlock(&list.lock);
}

int fib_watch_forget(uint64_t serial, int fd)
{
	struct fib_sched *s;
	int rc, worst = 0;

	fib_spin_lock(&list.lock);
	for (s = list.first; s; s = s->next_watching) {
		if (s->serial != serial && serial != FIB_WATCH_SEVERAL)
			continue;
		rc = s->poller->ops->forget(s->poller, fd);
		worst = rc < 0 ? rc : worst;
	}
	fib_spin_unlock(&list.lock);
	return worst;
}

void fib_watch_lock(void)
{
	fib_spin_lock(&list.lock);
}

void fib_watch_unlock(void)
{
	fib_spin_unlock(&list.lock);
}

void fib_watch_clear(void)
{
	list.first = NULL;
}
