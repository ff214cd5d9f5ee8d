/* SPDX-License-Identifier: MIT */
/* waiting.h - count the fibers that wait, as the tools see them */
#ifndef POSIX_WAITING_H
#define POSIX_WAITING_H

#include <string.h>

#include <fiber.h>

struct waiting {
	const char *kind;
	unsigned count;
};

static inline int waiting_add(const struct fiber_info *info, void *arg)
{
	struct waiting *w = arg;

	w->count += info->state == FIBER_SUSPENDED && strcmp(info->wait_kind, w->kind) == 0;
	return 0;
}

/* The number of fibers of the process that are suspended in a wait of this kind ("fd", "sleep"). */
static inline unsigned waiting_for(const char *kind)
{
	struct waiting w = {kind, 0};

	fiber_foreach(NULL, waiting_add, &w);
	return w.count;
}

/* Let other fibers run until this many wait. For a fiber; the test's watchdog ends a hang. */
static inline void waiting_until(const char *kind, unsigned count)
{
	while (waiting_for(kind) < count)
		fiber_sleep(INT64_C(1000000));
}

#endif
