/* SPDX-License-Identifier: MIT */
/*
 * stop_all.c - stop all threads of another process while a function runs
 *
 * Each thread is stopped as any single thread is (ptrace_stop.c): within the stop of the one before
 * it. So if the tool dies, the kernel resumes all of them. A thread that is not stopped yet may start
 * another one. So when all of a list are stopped, the list is read again, until it twice has no thread
 * that can be stopped: a thread that has ended is still listed for a while.
 */
#include "inspect/process/stop_all.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 4096 /* each takes a thread of this tool */

struct all {
	pid_t pid;
	ins_stop_all_fn *fn;
	void *context;
	struct ins_pauses *count;
	struct ins_thread_state *at;
	size_t n, room;
	pid_t *listed; /* threads that were not stopped when the list was read */
	size_t listed_count, listed_at, listed_room;
	unsigned quiet; /* lists since a thread was stopped */
	bool done;	/* fn was called */
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
	all->quiet = 0;
	return stop_next(all);
}

static bool is_stopped(const struct all *all, pid_t tid)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		if (all->at[i].tid == tid)
			return true;
	return false;
}

static int note(struct all *all, pid_t tid)
{
	if (all->listed_count == all->listed_room) {
		const size_t room = all->listed_room ? all->listed_room * 2 : 64;
		pid_t *more = realloc(all->listed, room * sizeof *more);

		if (!more)
			return -ENOMEM;
		all->listed = more;
		all->listed_room = room;
	}
	all->listed[all->listed_count++] = tid;
	return 0;
}

/* List the threads that are not stopped. Their names are not needed. */
static int list(struct all *all)
{
	struct dirent *entry;
	char path[64];
	int rc = 0;
	DIR *dir;

	all->listed_count = all->listed_at = 0;
	snprintf(path, sizeof path, "/proc/%d/task", (int)all->pid);
	dir = opendir(path);
	while (rc == 0 && dir && (entry = readdir(dir))) {
		const long tid = strtol(entry->d_name, NULL, 10);

		if (tid > 0 && !is_stopped(all, (pid_t)tid))
			rc = note(all, (pid_t)tid);
	}
	if (dir)
		closedir(dir);
	return rc;
}

static int stop_next(struct all *all)
{
	int rc = 0;

	while (rc == 0 && all->quiet < 2) {
		while (all->listed_at < all->listed_count) {
			if (all->n == MOST)
				return -EAGAIN;
			rc = ins_thread_state_take(all->listed[all->listed_at++], on_stop, all,
						   all->count);
			if (rc != -ESRCH || all->done)
				return rc;
		}
		all->quiet++;
		rc = list(all);
	}
	if (rc < 0)
		return rc;
	all->done = true;
	return all->n ? all->fn(all->context, all->at, all->n) : -ESRCH;
}

int ins_stop_all(pid_t pid, ins_stop_all_fn *fn, void *context, struct ins_pauses *count)
{
	struct all all = {.pid = pid, .fn = fn, .context = context, .count = count};
	const int rc = stop_next(&all);

	free(all.at);
	free(all.listed);
	return rc;
}
