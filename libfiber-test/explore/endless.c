/* SPDX-License-Identifier: MIT */
/*
 * endless.c - why a wait cannot end any more
 *
 * A condition, a semaphore, a channel and the like do not record which fiber will end a wait. If no
 * fiber can run any more, then no fiber will.
 */
#include "explore/endless.h"

#include <stdio.h>
#include <string.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "sync/chan.h"

/* What a fiber would have to do. NULL: a fiber does not end waits of this kind. */
static const char *act_of(const char *kind)
{
	static const char *const acts[][2] = {
		{"park", "unpark it"},
		{"rwlock-read", "unlock it"},
		{"rwlock-write", "unlock it"},
		{"cond", "signal it"},
		{"sem", "post it"},
		{"event", "set it"},
		{"barrier", "reach it"},
		{"waitgroup", "count it down"},
		{"chan-send", "receive from it or close it"},
		{"chan-recv", "send to it or close it"},
		{"select", "make one of its cases ready"},
		{"timer", "arm it"},
		{"fd", "make it ready"},
	};
	unsigned i;

	for (i = 0; i < fib_countof(acts); i++)
		if (strcmp(acts[i][0], kind) == 0)
			return acts[i][1];
	return NULL;
}

/* Whether the wait is for a channel of which only one reference is left. */
static bool has_last_reference(const struct fiber_info *info)
{
	const struct fiber_chan *chan = info->wait_object;

	return strncmp(info->wait_kind, "chan-", 5) == 0 && chan && fib_load(&chan->refs) == 1;
}

const char *fib_endless_why(const struct fib_waits *waits, size_t i, char *buf)
{
	const struct fiber_info *info = &waits->all[i];
	const char *act = act_of(info->wait_kind);

	if (!waits->stuck || !act || info->holder_id || info->holder_thread || waits->in[i] >= 0)
		return NULL;
	snprintf(buf, FIB_ENDLESS_ROOM, "no fiber is left that could %s%s", act,
		 has_last_reference(info) ? ", and the channel has no other reference" : "");
	return buf;
}
