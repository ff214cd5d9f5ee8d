/* SPDX-License-Identifier: MIT */
/*
 * recording.c - the recording in progress
 *
 * There is at most one, since an event is read only once. The client that started it reads it by
 * its id, over any number of connections, and stops it. If the client does not come back, the
 * recording stops by itself. A runtime that starts later joins at the next read.
 */
#include "service/recording.h"

#include <errno.h>
#include <stdbool.h>

#include "core/registry.h"
#include "os/os.h"
#include "sched/sched.h"
#include "watch/tick.h"

#define PAIR_TRIES 4
#define PAIR_CLOSE INT64_C(2000) /* ns */

static struct {
	uint64_t id;	 /* of the last recording */
	unsigned events; /* 0: none in progress */
	int64_t read_at;
	uint64_t lost; /* events, in all rings */
	bool trims;    /* memory is to be returned */
} recording;

static void set_lost(uint64_t events)
{
	recording.lost = events;
	fib_registry_recording_lost(events);
}

/* Arguments and results of a walk over the runtimes. */
struct walk {
	uint64_t serial;
	struct fib_wire_record_is *is;
	int rc;
	bool more;
};

/* Read a time and the ticks at that time. Repeated if the thread was preempted between the two. */
static void pair(const struct fib_recorder *r, struct fib_wire_record_is *is)
{
	int64_t before, took, best = INT64_MAX;
	uint64_t time;
	int i;

	for (i = 0; i < PAIR_TRIES && best > PAIR_CLOSE; i++) {
		before = fib_os_now();
		time = fib_recorder_time(r);
		took = fib_os_now() - before;
		if (took >= best)
			continue;
		best = took;
		is->now = before + took / 2;
		is->time = time;
	}
}

static void join_in(struct fib_sched *s, void *arg)
{
	struct walk *w = arg;
	int rc = fib_recorder_of(s) ? 0 : fib_recorder_start(s, recording.events);

	w->serial = s->serial;
	if (rc < 0) {
		w->rc = rc;
		return;
	}
	w->is->runtimes++;
	pair(fib_recorder_of(s), w->is);
}

static void stop(struct fib_sched *s, void *arg)
{
	struct walk *w = arg;

	w->serial = s->serial;
	fib_recorder_stop(s);
}

static void trim(struct fib_sched *s, void *arg)
{
	struct walk *w = arg;

	w->serial = s->serial;
	w->more |= fib_recorder_trim(s);
}

static void each(void (*fn)(struct fib_sched *s, void *arg), struct walk *w)
{
	w->serial = 0;
	while (fib_tick_next(w->serial, fn, w))
		;
}

void fib_recording_lost(uint64_t more)
{
	if (more)
		set_lost(recording.lost + more);
}

static void end(void)
{
	struct walk w = {0};

	set_lost(0);

	each(stop, &w);
	recording.events = 0;
	recording.trims = true;
}

static unsigned power_of_two(unsigned n)
{
	unsigned events = FIB_RECORDER_LEAST;

	while (events < n && events < FIB_RECORDER_MOST)
		events *= 2;
	return events;
}

static int look_around(int64_t now, struct fib_wire_record_is *ret)
{
	struct walk w = {.is = ret};

	*ret = (struct fib_wire_record_is){.id = recording.id, .events = recording.events};
	each(join_in, &w);
	recording.read_at = now;
	return w.rc;
}

int fib_recording_start(unsigned events, int64_t now, struct fib_wire_record_is *ret)
{
	int rc;

	if (recording.events)
		return -EBUSY;
	recording.events = power_of_two(events);
	recording.id++;
	set_lost(0);
	rc = look_around(now, ret);
	if (rc == 0 && !ret->runtimes)
		rc = -ESRCH;
	if (rc < 0)
		end();
	return rc;
}

int fib_recording_read(uint64_t id, int64_t now, struct fib_wire_record_is *ret)
{
	if (!recording.events || id != recording.id)
		return -ESRCH;
	/* Without memory for the rings of a new runtime the others still record. */
	look_around(now, ret);
	return 0;
}

int fib_recording_stop(uint64_t id, int64_t now, struct fib_wire_record_is *ret)
{
	int rc = fib_recording_read(id, now, ret);

	if (rc == 0)
		end();
	return rc;
}

unsigned fib_recording_events(void)
{
	return recording.events;
}

void fib_recording_look(int64_t now)
{
	struct walk w = {0};

	if (recording.events && now - recording.read_at > FIB_WIRE_RECORD_LEASE)
		end();
	if (!recording.trims)
		return;
	each(trim, &w);
	recording.trims = w.more;
}

void fib_recording_forget(void)
{
	recording.events = 0;
	recording.trims = false;
	set_lost(0);
}
