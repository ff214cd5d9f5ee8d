/* SPDX-License-Identifier: MIT */
/* replays.h - what a replay reports, as text */
#ifndef UNIT_INSPECT_REPLAYS_H
#define UNIT_INSPECT_REPLAYS_H

#include <stdarg.h>
#include <stdio.h>

#include "inspect/recording/replay.h"
#include "tests/harness/inspect/recordings.h"

static char told[4096];
static size_t used;

static void tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void tell(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	used += (size_t)vsnprintf(told + used, sizeof told - used, fmt, ap);
	va_end(ap);
	assert_true(used < sizeof told);
}

static void slice(void *context, const struct ins_slice *s)
{
	static const char *const doing[] = {"unknown", "runs", "runnable", "waits", "pinned"};

	(void)context;
	tell("%d %s %d-%d", (int)s->fiber, doing[s->doing], (int)(s->from - BEGAN),
	     (int)(s->to - BEGAN));
	if (s->doing == INS_DOING_RUNNING)
		tell(" on %d", (int)s->ring);
	if (s->doing == INS_DOING_WAITING || s->doing == INS_DOING_PINNED)
		tell(" for %u:%x", s->kind, (unsigned)s->object);
	tell("%s%s%s\n", s->flags & INS_SLICE_BEGAN_EARLIER ? " earlier" : "",
	     s->flags & INS_SLICE_GOES_ON ? " on and on" : "",
	     s->flags & INS_SLICE_CUT ? " cut" : "");
}

static void wakeup(void *context, const struct ins_wakeup *w)
{
	(void)context;
	tell("%d %s %d at %d%s\n", (int)w->waker, w->spawn ? "makes" : "wakes", (int)w->fiber,
	     (int)(w->ns - BEGAN), w->ended ? " ended" : "");
}

static void play(struct ins_recording *r)
{
	static const struct ins_replay_ops ops = {slice, wakeup, NULL};
	struct ins_replay *replay;
	char first[sizeof told];

	assert_int_equal(ins_replay_new(r, &replay), 0);
	used = 0;
	ins_replay_play(replay, &ops, NULL);
	memcpy(first, told, sizeof told);
	used = 0;
	ins_replay_play(replay, &ops, NULL);
	assert_string_equal(told, first); /* a replay can be repeated */
	ins_replay_free(replay);
	ins_recording_close(r);
}

#endif
