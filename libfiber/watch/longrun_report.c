/* SPDX-License-Identifier: MIT */
/*
 * longrun_report.c - the messages about long runs
 *
 * A line says which fiber, for how long, and where in the program. At most one line a second is
 * printed, and for one place at most one a minute: the next line about the place has the number of
 * runs in between. A place is a function, or the function of the fiber if that is all that is known.
 *
 * To find a place reads a stack and the program's tables, while the service thread's tick waits. So it
 * is done a few times a second. The other events of that second are counted at the place of the last
 * one of the same fiber function.
 *
 * The table has room for more places than lines are printed in a minute, so a place in it is
 * replaced only if it may be printed again anyway.
 */
#include "watch/longrun_report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/fiber_text.h"
#include "os/os.h"
#include "os/threads.h"
#include "watch/longrun_place.h"
#include "watch/longrun_ring.h"

#define LINE_EVERY  INT64_C(1000000000)
#define PLACE_EVERY INT64_C(60000000000)
#define PLACES	    64u
#define LOOKS	    8u /* in each LINE_EVERY */

/* A place that a line was printed about, or is to be. The service thread's. */
struct spot {
	uint64_t key; /* 0: a free spot */
	bool waits;   /* a line about event is to be printed */
	bool told;    /* a line was printed, at told_at */
	int64_t told_at;
	uint64_t entry;	 /* of the last event there that was looked at */
	uint64_t event;	 /* its number */
	uint64_t missed; /* runs without a line since the last line */
	enum fib_longrun_sure sure;
	struct fib_os_place place;
	char fiber[FIB_LOG_NAME];
};

static struct {
	struct spot spots[PLACES];
	unsigned waiting; /* spots with `waits` */
	bool printed;
	int64_t printed_at;
	int64_t looked_since; /* when the first of these was found: */
	unsigned looks;
} lines;

/* What is known of an event's place. Never 0. */
static uint64_t key_of(const struct fib_longrun_event *e, enum fib_longrun_sure sure,
		       uint64_t function, const struct fib_os_place *place)
{
	if (sure == FIB_LONGRUN_UNKNOWN)
		return e->entry ? e->entry : 1;
	return function ? function : place->offset;
}

static bool is_muted(const struct spot *s, int64_t now)
{
	return s->told && now - s->told_at < PLACE_EVERY;
}

/* The spot of that place, else one without a place that matters; NULL: there is none. */
static struct spot *spot_of(uint64_t key, int64_t now)
{
	struct spot *unused = NULL;
	unsigned i;

	for (i = 0; i < PLACES; i++) {
		struct spot *s = &lines.spots[i];

		if (s->key == key)
			return s;
		if (!s->key || (!s->waits && !is_muted(s, now)))
			unused = s;
	}
	if (unused)
		*unused = (struct spot){.key = key};
	return unused;
}

/* Whether a place may be found now. */
static bool may_look(int64_t now)
{
	if (now - lines.looked_since >= LINE_EVERY) {
		lines.looked_since = now;
		lines.looks = 0;
	}
	return lines.looks++ < LOOKS;
}

/* Count a run without finding its place. */
static void count_by_entry(uint64_t entry)
{
	unsigned i;

	for (i = 0; i < PLACES; i++)
		if (lines.spots[i].key && lines.spots[i].entry == entry) {
			lines.spots[i].missed++;
			return;
		}
}

void fib_longrun_report_add(const struct fib_longrun_event *e, int64_t now,
			    struct fib_os_pipe *pipe)
{
	struct fib_os_place place;
	enum fib_longrun_sure sure;
	uint64_t function;
	struct spot *s;

	/* Waits while pinned are printed by pinned.c. */
	if (e->doing == FIB_LONGRUN_WAITS)
		return;
	if (!may_look(now)) {
		count_by_entry(e->entry);
		return;
	}
	sure = fib_longrun_place(e, pipe, &place, &function);
	s = spot_of(key_of(e, sure, function, &place), now);
	if (!s)
		return;
	s->entry = e->entry;
	if (s->waits || is_muted(s, now)) {
		s->missed++;
		return;
	}
	s->waits = true;
	lines.waiting++;
	s->event = e->number;
	s->sure = sure;
	s->place = place;
	fib_fiber_text(s->fiber, e->name, e->entry, pipe);
}

/* " at kv+0x12a0", or nothing. */
static void place_text(const struct spot *s, char *text, size_t size)
{
	static const char *const how[] = {
		[FIB_LONGRUN_PROBABLE] = ", probably from",
		[FIB_LONGRUN_EXACT] = " at",
	};

	*text = 0;
	if (s->sure != FIB_LONGRUN_UNKNOWN)
		snprintf(text, size, "%s %s+0x%llx", how[s->sure], s->place.module,
			 (unsigned long long)s->place.offset);
}

static void print(const struct spot *s, const struct fib_longrun_event *e)
{
	static const char *const doing[] = {"computing", "in a system call", "waiting for memory"};
	char place[96], missed[64] = "", first[192] = "";
	const int pid = (int)getpid();

	place_text(s, place, sizeof place);
	if (s->missed)
		snprintf(missed, sizeof missed, " (%llu more there since the last line)",
			 (unsigned long long)s->missed);
	if (!lines.printed)
		snprintf(first, sizeof first,
			 "; other fibers wait meanwhile: 'fiberctl slow %d' prints the stack, "
			 "'fiberctl watchdog %d TIME|off' or the option long_run_ns sets the limit",
			 pid, pid);
	fib_log("fiber %llu %s holds carrier %u for %llu ms and more, %s%s%s%s%s",
		(unsigned long long)e->fiber, s->fiber, e->carrier,
		(unsigned long long)(e->duration / 1000000), doing[e->doing], place,
		fib_longrun_astray(e) ? ", its stack pointer is outside its stack" : "", missed,
		first);
}

/* The spot to print next: that of the oldest event. */
static struct spot *next(void)
{
	struct spot *best = NULL;
	unsigned i;

	for (i = 0; i < PLACES; i++) {
		struct spot *s = &lines.spots[i];

		if (s->waits && (!best || s->event < best->event))
			best = s;
	}
	return best;
}

void fib_longrun_report(int64_t now)
{
	const struct fib_longrun_event *e = NULL;
	struct spot *s = NULL;

	if (!lines.waiting || (lines.printed && now - lines.printed_at < LINE_EVERY) ||
	    !fib_os_may_print())
		return;
	/* An event that is not in the ring any more gets no line, but the next one there does. */
	while (!e && lines.waiting) {
		s = next();
		e = fib_longrun_event(s->event);
		s->waits = false;
		lines.waiting--;
	}
	if (!e)
		return;
	print(s, e);
	s->told = lines.printed = true;
	s->told_at = lines.printed_at = now;
	s->missed = 0;
}

void fib_longrun_report_clear(void)
{
	memset(&lines, 0, sizeof lines);
}
