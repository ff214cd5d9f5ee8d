/* SPDX-License-Identifier: MIT */
/*
 * render_trace_events.c - write a recording for Perfetto's UI and chrome://tracing
 *
 * The format is Chrome's "Trace Event Format". Both viewers know processes with threads, so there
 * are two processes: the carriers with the fibers that they run, and the fibers with what they do.
 *
 * An arrow must start and end in a slice. A waker mostly runs, and the woken fiber has a runnable
 * slice from that moment on. A waker without a slice gets one of a nanosecond: a thread of the
 * program, a carrier that wakes a fiber by a timer or for a descriptor, and a fiber whose exit
 * wakes its joiner.
 *
 * Where events were lost, the carrier has a slice with their number, and fibers have a slice with
 * an unknown state.
 */
#include "inspect/render/render_trace_events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/text/escape.h"
#include "inspect/text/json_put.h"

#define CARRIERS 1
#define FIBERS	 2

struct writing {
	FILE *out;
	const struct ins_recording *recording;
	struct ins_replay *replay;
	bool comma;
	uint64_t arrows;
};

/* -- pieces -- */

/* ns as us. */
static void put_time(FILE *out, const char *key, int64_t ns)
{
	fprintf(out, ",\"%s\":%" PRId64 ".%03d", key, ns / 1000, (int)(ns % 1000));
}

static void open_event(struct writing *w, const char *phase, unsigned process, uint64_t thread)
{
	fprintf(w->out, "%s\n{\"ph\":\"%s\",\"pid\":%u,\"tid\":%" PRIu64, w->comma ? "," : "",
		phase, process, thread);
	w->comma = true;
}

static void put_name(struct writing *w, const char *name)
{
	fputs(",\"name\":", w->out);
	ins_json_put_text(w->out, name);
}

static uint64_t since_began(const struct writing *w, int64_t ns)
{
	const int64_t began = w->recording->head.began;

	return ns > began ? (uint64_t)(ns - began) : 0;
}

/* -- slices -- */

static void open_slice(struct writing *w, unsigned process, uint64_t thread, int64_t from,
		       int64_t length)
{
	open_event(w, "X", process, thread);
	put_time(w->out, "ts", (int64_t)since_began(w, from));
	put_time(w->out, "dur", length);
}

static const char *words(const struct writing *w, const struct ins_slice *s, char *buf, size_t size)
{
	switch (s->doing) {
	case INS_DOING_RUNNING:
		return "running";
	case INS_DOING_RUNNABLE:
		return "runnable";
	case INS_DOING_UNKNOWN:
		return "unknown: events were lost";
	default:
		return ins_recording_wait(w->recording, s->kind, s->object, s->arg, buf, size);
	}
}

static const char *category(enum ins_doing doing)
{
	return doing == INS_DOING_RUNNING    ? "running"
	       : doing == INS_DOING_RUNNABLE ? "runnable"
	       : doing == INS_DOING_PINNED   ? "pinned"
	       : doing == INS_DOING_UNKNOWN  ? "lost"
					     : "waiting";
}

static void put_slice(void *context, const struct ins_slice *s)
{
	struct writing *w = context;
	char text[256];

	if (s->doing == INS_DOING_RUNNING && s->ring != INS_NO_RING) {
		open_slice(w, CARRIERS, s->ring + 1, s->from, s->to - s->from);
		put_name(w, ins_recording_call(w->recording, s->fiber, text, sizeof text));
		fprintf(w->out, ",\"cat\":\"running\",\"args\":{\"fiber\":%" PRIu64 "}}", s->fiber);
	}
	open_slice(w, FIBERS, s->index + 1, s->from, s->to - s->from);
	put_name(w, words(w, s, text, sizeof text));
	fprintf(w->out, ",\"cat\":\"%s\",\"args\":{\"fiber\":%" PRIu64, category(s->doing),
		s->fiber);
	if (s->doing == INS_DOING_RUNNING && s->ring != INS_NO_RING)
		fprintf(w->out, ",\"carrier\":%u", w->recording->ring[s->ring].carrier);
	if (s->flags & INS_SLICE_BEGAN_EARLIER)
		fputs(",\"beganEarlier\":true", w->out);
	if (s->flags & INS_SLICE_GOES_ON)
		fputs(",\"goesOn\":true", w->out);
	if (s->flags & INS_SLICE_CUT)
		fputs(",\"cut\":true", w->out);
	fputs("}}", w->out);
}

/* -- arrows -- */

static void put_arrow(struct writing *w, const char *phase, unsigned process, uint64_t thread,
		      int64_t ns)
{
	open_event(w, phase, process, thread);
	put_time(w->out, "ts", (int64_t)since_began(w, ns));
	fprintf(w->out, ",\"id\":%" PRIu64 ",\"cat\":\"wake\",\"name\":\"wake\"%s}", w->arrows,
		phase[0] == 'f' ? ",\"bp\":\"e\"" : "");
}

/* The thread number of the fiber in its process; 0: the fiber is unknown. */
static uint64_t thread_of(const struct writing *w, uint64_t fiber)
{
	const struct ins_fiber_table *fiber_table = ins_replay_fibers(w->replay);
	const struct ins_fiber_table_entry *life = ins_fiber_table_find(fiber_table, fiber);

	return life ? (uint64_t)(life - fiber_table->at) + 1 : 0;
}

static void put_wakeup(void *context, const struct ins_wakeup *u)
{
	struct writing *w = context;
	const uint64_t woken = thread_of(w, u->fiber);
	const bool fiber = u->waker && !(u->waker & FIB_HOLDER_THREAD);
	uint64_t waker = fiber ? thread_of(w, u->waker) : 0;
	char name[64];

	if (!woken)
		return;
	w->arrows++;
	if (waker) {
		if (u->ended) {
			open_slice(w, FIBERS, waker, u->ns, 1);
			fputs(",\"name\":\"ends\",\"cat\":\"wake\"}", w->out);
		}
		put_arrow(w, "s", FIBERS, waker, u->ns);
	} else {
		open_slice(w, CARRIERS, u->ring + 1, u->ns, 1);
		if (u->waker & FIB_HOLDER_THREAD)
			snprintf(name, sizeof name, "thread %" PRIu64 " %s %" PRIu64,
				 u->waker & ~FIB_HOLDER_THREAD, u->spawn ? "makes" : "wakes",
				 u->fiber);
		else
			snprintf(name, sizeof name, "%s %" PRIu64, u->spawn ? "makes" : "wakes",
				 u->fiber);
		put_name(w, name);
		fputs(",\"cat\":\"wake\"}", w->out);
		put_arrow(w, "s", CARRIERS, u->ring + 1, u->ns);
	}
	put_arrow(w, "f", FIBERS, woken, u->ns);
}

/* -- what has no length -- */

/* No other slice overlaps it on that track. */
static void put_hole(struct writing *w, const struct ins_recorded *e)
{
	const int64_t then = (int64_t)e->event.object, ended = w->recording->head.ended;
	char name[64];

	open_slice(w, CARRIERS, e->ring + 1, e->ns, (then < ended ? then : ended) - e->ns);
	snprintf(name, sizeof name, "%" PRIu64 " event%s lost", e->event.time,
		 e->event.time == 1 ? "" : "s");
	put_name(w, name);
	fprintf(w->out, ",\"cat\":\"lost\",\"args\":{\"events\":%" PRIu64 "}}", e->event.time);
}

static void put_mark(void *context, const struct ins_recorded *e)
{
	struct writing *w = context;
	const char *name = NULL;
	char text[96];

	switch (e->event.type) {
	case FIB_EVENT_COUNT:
		put_hole(w, e);
		return;
	case FIB_EVENT_STEAL:
		snprintf(text, sizeof text, "steals %" PRIu64 " from carrier %u", e->event.fiber,
			 e->event.arg);
		name = text;
		break;
	case FIB_EVENT_SLOW:
		snprintf(text, sizeof text, "fiber %" PRIu64 " holds carrier %u for long",
			 e->event.fiber, e->event.arg);
		name = text;
		break;
	case FIB_EVENT_EXIT:
		snprintf(text, sizeof text, "fiber %" PRIu64 " ends", e->event.fiber);
		name = text;
		break;
	default:
		return;
	}
	open_event(w, "i", CARRIERS, e->ring + 1);
	put_time(w->out, "ts", (int64_t)since_began(w, e->ns));
	put_name(w, name);
	fputs(",\"s\":\"t\"}", w->out);
}

/* -- names of tracks -- */

static void put_meta(struct writing *w, const char *what, unsigned process, uint64_t thread,
		     const char *name, uint64_t place)
{
	open_event(w, "M", process, thread);
	fprintf(w->out, ",\"name\":\"%s_name\",\"args\":{\"name\":", what);
	ins_json_put_text(w->out, name);
	fputs("}}", w->out);
	open_event(w, "M", process, thread);
	fprintf(w->out, ",\"name\":\"%s_sort_index\",\"args\":{\"sort_index\":%" PRIu64 "}}", what,
		place);
}

static void put_tracks(struct writing *w)
{
	const struct ins_recording *r = w->recording;
	char text[256], clean[200];
	size_t i;

	ins_escape(r->head.name, clean, sizeof clean);
	snprintf(text, sizeof text, "%s %d: carriers", clean, (int)r->head.pid);
	put_meta(w, "process", CARRIERS, 0, text, 1);
	snprintf(text, sizeof text, "%s %d: fibers", clean, (int)r->head.pid);
	put_meta(w, "process", FIBERS, 0, text, 2);
	for (i = 0; i < r->rings; i++) {
		if (r->ring[i].carrier == FIB_EVENT_OUTSIDE)
			snprintf(text, sizeof text, "threads (runtime %" PRIu64 ")",
				 r->ring[i].runtime);
		else
			snprintf(text, sizeof text, "carrier %u (runtime %" PRIu64 ")",
				 r->ring[i].carrier, r->ring[i].runtime);
		put_meta(w, "thread", CARRIERS, i + 1, text, i);
	}
	for (i = 0; i < ins_replay_fibers(w->replay)->count; i++) {
		const struct ins_fiber_table_entry *l = &ins_replay_fibers(w->replay)->at[i];
		const char *place = ins_recording_place(r, l->entry);

		ins_recording_call(r, l->id, clean, sizeof clean);
		snprintf(text, sizeof text, "%s%s%s", clean, place ? " " : "", place ? place : "");
		put_meta(w, "thread", FIBERS, i + 1, text, i);
	}
}

int ins_trace_events(FILE *out, const struct ins_recording *recording, struct ins_replay *replay)
{
	static const struct ins_replay_ops ops = {put_slice, put_wakeup, put_mark};
	struct writing w = {out, recording, replay, false, 0};

	fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"program\":", out);
	ins_json_put_text(out, recording->head.name);
	fputs(",\"host\":", out);
	ins_json_put_text(out, recording->head.host);
	fprintf(out, ",\"pid\":\"%d\",\"lostEvents\":\"%" PRIu64 "\"},\"traceEvents\":[",
		(int)recording->head.pid, recording->lost);
	put_tracks(&w);
	ins_replay_play(replay, &ops, &w);
	fputs("\n]}\n", out);
	return ferror(out) ? -EIO : 0;
}
