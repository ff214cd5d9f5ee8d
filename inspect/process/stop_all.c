/* SPDX-License-Identifier: MIT */
/*
 * stop_all.c - stop all threads of another process while a function runs
 *
 * Each thread is stopped as any single thread is (ptrace_stop.c): within the stop of the one before
 * it. So if the tool dies, the kernel resumes all of them. A thread that is not stopped yet may start
 * another one, so the list is read again until it has no new thread.
 */
#include "inspect/process/stop_all.h"

#include <errno.h>
#include <stdlib.h>

#include "inspect/process/threads.h"

#define MOST 4096 /* each takes a thread of this tool */

struct all {
	pid_t pid;
	ins_stop_all_fn *fn;
	void *context;
	struct ins_pauses *count;
	struct ins_thread_state *at;
	size_t n, room;
	pid_t gone; /* a thread that has ended while it is still listed */
	bool done;  /* fn was called */
};

static int stop_next(struct all *all);

static int on_stop(void *context, const struct ins_thread_state *thread)
{
	struct all *all = context;

	if (all->n == all->room) {
		const size_t room = all->room ? all->room * 2 : 16;
		struct ins_thread_state *more = realloc(all->at, room * sizeof *more);

		if (!more)
			return -ENOMEM;
		all->at = more;
		all->room = room;
	}
	all->at[all->n++] = *thread;
	return stop_next(all);
}

/* A thread that is not stopped; 0: none. */
static pid_t find_next(const struct all *all)
{
	struct ins_threads threads = {0};
	pid_t found = 0;
	size_t i, k;

	ins_threads_list(all->pid, &threads);
	for (i = 0; i < threads.count && !found; i++) {
		for (k = 0; k < all->n && all->at[k].tid != threads.at[i].tid; k++)
			;
		if (k == all->n && threads.at[i].tid != all->gone)
			found = threads.at[i].tid;
	}
	ins_threads_free(&threads);
	return found;
}

static int stop_next(struct all *all)
{
	pid_t next;
	int rc;

	while ((next = find_next(all))) {
		if (all->n == MOST)
			return -EAGAIN;
		rc = ins_thread_state_take(next, on_stop, all, all->count);
		if (rc != -ESRCH || all->done)
			return rc;
		all->gone = next;
	}
	all->done = true;
	return all->fn(all->context, all->at, all->n);
}

int ins_stop_all(pid_t pid, ins_stop_all_fn *fn, void *context, struct ins_pauses *count)
{
	struct all all = {.pid = pid, .fn = fn, .context = context, .count = count};
	const int rc = stop_next(&all);

	free(all.at);
	return rc;
}
