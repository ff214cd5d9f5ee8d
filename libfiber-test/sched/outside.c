/* SPDX-License-Identifier: MIT */
/*
 * outside.c - wait in real time for what happens outside the process
 *
 * Fibers wait for descriptors in two ways: in libfiber's table of descriptors, whose events come
 * from a poller, and set aside (os/pinned.h).
 */
#include "sched/outside.h"

#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "io/table.h"
#include "net/inside.h"
#include "os/pinned.h"
#include "os/virtual.h"
#include "os/world.h"
#include "wait/wait_queue.h"

struct waited {
	struct pollfd *at;
	size_t n, room;
};

static void add(struct waited *w, int fd, short events)
{
	if (w->n == w->room) {
		w->room = w->room ? 2 * w->room : 64;
		w->at = realloc(w->at, w->room * sizeof *w->at);
		fib_check(w->at);
	}
	w->at[w->n++] = (struct pollfd){.fd = fd, .events = events};
}

static void add_sleepers(struct waited *w)
{
	const struct fib_pinned_sleeper *p;
	unsigned long i;

	for (p = fib_pinned_first(); p; p = p->next)
		for (i = 0; !p->word && i < p->count; i++)
			if (p->fds[i].fd >= 0)
				add(w, p->fds[i].fd, p->fds[i].events);
}

/* Descriptors that have waiters in libfiber's table. */
static void add_table(struct waited *w)
{
	struct fib_descriptor *block;
	unsigned i, k;

	for (i = 0; i < FIB_TABLE_BLOCKS; i++) {
		block = fib_load(&fib_table_blocks[i]);
		for (k = 0; block && k < FIB_TABLE_BLOCK; k++)
			if (fib_queue_occupied(&block[k].reading.waiters) ||
			    fib_queue_occupied(&block[k].writing.waiters))
				add(w, (int)(i * FIB_TABLE_BLOCK + k), 0);
	}
}

/* Whether one of them can become ready without a fiber that runs. */
static bool any_outside(const struct waited *w)
{
	size_t i;

	if (!w->n)
		return false;
	if (!fib_inside_alone())
		return true;
	for (i = 0; i < w->n; i++)
		if (!fib_inside_has(w->at[i].fd))
			return true;
	return false;
}

/* Past the functions that take libc's place in the program (net/). */
static bool wait_for(const struct waited *w)
{
	const int64_t patience = fib_virtual_patience();
	struct timespec t = {(time_t)(patience / 1000000000), (long)(patience % 1000000000)};

	return syscall(SYS_ppoll, w->at, w->n, patience < 0 ? NULL : &t, NULL, 0) > 0;
}

bool fib_outside_wait(const int *pollers, unsigned n, bool operations)
{
	struct waited w = {NULL, 0, 0};
	bool ready = false;
	unsigned i;

	add_sleepers(&w);
	add_table(&w);
	if (operations || any_outside(&w)) {
		w.n = 0;
		add_sleepers(&w);
		for (i = 0; i < n; i++)
			add(&w, pollers[i], POLLIN);
		fib_world_use();
		ready = wait_for(&w);
	}
	free(w.at);
	return ready;
}
