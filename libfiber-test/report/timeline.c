/* SPDX-License-Identifier: MIT */
/*
 * timeline.c - write what libfiber's recorder saw of a schedule
 *
 * The recorder is the one of production, and its clock is the schedule's (seams/ticks.h). Events of
 * the loop, which is no fiber, are in a ring of their own: both rings are merged by time into one,
 * as if a carrier's idle context had caused them. Ids are those within the schedule.
 */
#include "report/timeline.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fiber/introspect.h>

#include "base/check.h"
#include "base/compiler.h"
#include "core/registry.h"
#include "explore/explorer.h"
#include "layout/event.h"
#include "layout/recording_format.h"
#include "os/os.h"
#include "os/virtual.h"
#include "report/objects.h"
#include "report/place.h"
#include "report/trace.h"
#include "sched/gather.h"
#include "sched/recorder.h"
#include "sched/sched.h"
#include "text/output.h"

#define RING_EVENTS 65536u
#define BATCH	    256u
#define TAKE_EVERY  1000u
#define FIRST	    INT64_C(1000000000) /* ns: the clock of a schedule starts here */

struct taken {
	const struct fib_sched *sched;
	struct fib_event event;
};

static struct {
	struct taken *at;
	size_t n, room;
	int64_t began;
	unsigned steps;
} timeline;

/* -- taking -- */

static void start(struct fib_carrier *c)
{
	if (fib_recorder_start(c->sched, RING_EVENTS) == 0)
		fib_recorder_apply(c);
}

static void keep(const struct fib_sched *s, const struct fib_event *event)
{
	if (timeline.n == timeline.room) {
		timeline.room = timeline.room ? 2 * timeline.room : 1024;
		timeline.at = realloc(timeline.at, timeline.room * sizeof *timeline.at);
		fib_check(timeline.at);
	}
	timeline.at[timeline.n++] = (struct taken){s, *event};
}

static void take(struct fib_carrier *c)
{
	struct fib_recorder *r = fib_recorder_of(c->sched);
	struct fib_event events[BATCH];
	unsigned ring, n, i;

	for (ring = 0; r && ring < r->rings; ring++)
		while ((n = fib_event_ring_read(&r->ring[ring], events, BATCH)) != 0)
			for (i = 0; i < n; i++)
				keep(c->sched, &events[i]);
}

/* The rings are small: take their events now and then. */
static void take_often(void)
{
	if (++timeline.steps % TAKE_EVERY == 0)
		fib_gather_each(take);
}

void fib_timeline_begin(void)
{
	timeline.n = 0;
	timeline.began = FIRST;
	fib_gather_watch(start, take);
	fib_trace_at_each_step(take_often);
}

/* -- events as they are written -- */

static uint64_t number_of(uint64_t id)
{
	const uint64_t first = fib_explorer_first_id();

	if (id & FIB_HOLDER_THREAD)
		return 0; /* the loop */
	return id >= first ? id - first + 1 : 0;
}

static int by_time(const void *a, const void *b)
{
	const struct taken *x = *(const struct taken *const *)a,
			   *y = *(const struct taken *const *)b;

	if (x->sched != y->sched)
		return x->sched < y->sched ? -1 : 1;
	if (x->event.time != y->event.time)
		return x->event.time < y->event.time ? -1 : 1;
	return x < y ? -1 : x > y;
}

static struct fib_event converted(const struct fib_event *event)
{
	struct fib_event e = *event;

	e.fiber = number_of(e.fiber);
	if ((e.type == FIB_EVENT_RUN || e.type == FIB_EVENT_PINNED) && e.kind == FIB_WAIT_JOIN) {
		e.object = number_of(e.object);
		e.arg = (uint32_t)e.object;
	} else if (e.type == FIB_EVENT_RUN && e.state == FIBER_SUSPENDED && !e.kind) {
		/* It let another fiber go first, and waits for nothing. */
		e.kind = FIB_WAIT_YIELD;
		e.state = FIBER_RUNNABLE;
	} else if (e.type == FIB_EVENT_WAKE) {
		e.object = number_of(e.object);
	} else if (e.type == FIB_EVENT_SPAWN) {
		e.arg = (uint32_t)number_of(e.arg);
	}
	return e;
}

/* -- sections -- */

static void put_part(FILE *out, enum fib_recording_section type, size_t size)
{
	const struct fib_recording_part part = {.type = type, .size = size};

	fwrite(&part, sizeof part, 1, out);
}

static void put_text(FILE *out, enum fib_recording_section type, uint64_t key, const char *text)
{
	const struct fib_recording_text head = {.key = key, .size = (uint32_t)strlen(text)};

	put_part(out, type, sizeof head + head.size);
	fwrite(&head, sizeof head, 1, out);
	fwrite(text, 1, head.size, out);
}

/* In time order. The names, which have no time, go to the end; a reader wants them anywhere. */
static void order(struct taken *const *from, struct taken **to, size_t n)
{
	size_t i, timed = 0, k;

	for (i = 0; i < n; i++)
		if (from[i]->event.type != FIB_EVENT_NAME)
			to[timed++] = from[i];
	qsort(to, timed, sizeof *to, by_time);
	for (i = 0, k = timed; i < n; i++)
		if (from[i]->event.type == FIB_EVENT_NAME)
			to[k++] = from[i];
}

static void put_events_of(FILE *out, struct taken *const *at, size_t n, const struct fib_sched *s,
			  uint64_t runtime)
{
	struct fib_recording_events head = {.runtime = runtime};
	struct fib_event event;
	size_t i;

	for (i = 0; i < n; i++)
		head.count += at[i]->sched == s;
	put_part(out, FIB_RECORDING_EVENTS, sizeof head + head.count * sizeof event);
	fwrite(&head, sizeof head, 1, out);
	for (i = 0; i < n; i++) {
		if (at[i]->sched != s)
			continue;
		event = converted(&at[i]->event);
		fwrite(&event, sizeof event, 1, out);
	}
}

static void put_events(FILE *out)
{
	struct taken **all = calloc(timeline.n + 1, sizeof *all);
	struct taken **to = calloc(timeline.n + 1, sizeof *to);
	uint64_t runtime = 0;
	size_t i, k;

	fib_check(all && to);
	for (i = 0; i < timeline.n; i++)
		all[i] = &timeline.at[i];
	order(all, to, timeline.n);
	for (i = 0; i < timeline.n; i++) {
		for (k = 0; k < i && to[k]->sched != to[i]->sched; k++)
			;
		if (k == i)
			put_events_of(out, to, timeline.n, to[i]->sched, ++runtime);
	}
	free(all);
	free(to);
}

static void put_clock(FILE *out, int64_t at)
{
	const struct fib_recording_clock clock = {(uint64_t)at, at};

	put_part(out, FIB_RECORDING_CLOCKS, sizeof clock);
	fwrite(&clock, sizeof clock, 1, out);
}

static void put_words(FILE *out)
{
	unsigned i;

	for (i = 0; i < FIB_LAYOUT_WAITS; i++)
		if (fiber_registry.wait_names[i][0])
			put_text(out, FIB_RECORDING_WORDS, i, fiber_registry.wait_names[i]);
	for (i = 0; i <= FIBER_DEAD; i++)
		put_text(out, FIB_RECORDING_WORDS, 256 + i, fiber_registry.state_names[i]);
}

/* The names of the functions that fibers run. */
static void put_functions(FILE *out)
{
	uint64_t seen[64];
	struct fib_place place;
	unsigned n = 0, k;
	size_t i;

	for (i = 0; i < timeline.n && n < fib_countof(seen); i++) {
		const struct fib_event *e = &timeline.at[i].event;

		for (k = 0; k < n && seen[k] != e->object; k++)
			;
		if (e->type != FIB_EVENT_SPAWN || k < n)
			continue;
		seen[n++] = e->object;
		/* The address after the one asked for, as after a call. */
		fib_place_of((const char *)(uintptr_t)e->object + 1, &place);
		if (place.function)
			put_text(out, FIB_RECORDING_PLACES, e->object, place.function);
	}
}

static void put_objects(FILE *out)
{
	const struct fib_object *object;
	unsigned i;

	for (i = 0; i < fib_objects_count(); i++) {
		object = fib_objects_get((int)i);
		if (object->name[0])
			put_text(out, FIB_RECORDING_OBJECTS, (uintptr_t)object->at, object->name);
	}
}

static unsigned char kind_of(const char *wait)
{
	unsigned i;

	for (i = 0; i < FIB_LAYOUT_WAITS; i++)
		if (strcmp(fiber_registry.wait_names[i], wait) == 0)
			return (unsigned char)i;
	return 0;
}

static int put_fiber(const struct fiber_info *info, void *arg)
{
	const bool waits = info->state == FIBER_SUSPENDED;
	struct fib_recording_fiber f = {
		.id = number_of(info->id),
		.entry = (uintptr_t)info->entry,
		.wait_object = waits ? (uintptr_t)info->wait_object : 0,
		.wait_arg = waits ? number_of(info->target_id) : 0,
		.parent = number_of(info->parent_id),
		.since = info->since,
		.seen = fib_virtual_now(),
		.state = (uint8_t)info->state,
		.wait_kind = waits ? kind_of(info->wait_kind) : 0,
		.carrier = info->carrier < 0 ? 0xffff : 0,
	};

	if (!f.id || info->state == FIBER_DEAD)
		return 0;
	memcpy(f.name, info->name, sizeof f.name);
	memcpy(f.object_name, info->wait_object_name, sizeof f.object_name);
	put_part(arg, FIB_RECORDING_LAST, sizeof f);
	fwrite(&f, sizeof f, 1, arg);
	return 0;
}

int fib_timeline_write(const char *path)
{
	struct fib_recording_head head = {.version = FIB_RECORDING_VERSION,
					  .order = FIB_RECORDING_ORDER,
					  .pid = getpid(),
					  .ring_events = RING_EVENTS,
					  .wall = fib_os_wall(),
					  .began = timeline.began};
	struct fib_output output;
	int rc = fib_output_begin(&output, path);

	if (rc < 0)
		return rc;
	fib_gather_each(take);
	fib_gather_watch(NULL, NULL);
	head.ended = fib_virtual_tick();
	memcpy(head.magic, FIB_RECORDING_MAGIC, sizeof head.magic);
	snprintf(head.name, sizeof head.name, "%.63s", program_invocation_short_name);
	if (gethostname(head.host, sizeof head.host - 1) < 0)
		head.host[0] = 0;
	fwrite(&head, sizeof head, 1, output.out);
	put_clock(output.out, head.began);
	put_events(output.out);
	put_clock(output.out, head.ended);
	put_words(output.out);
	put_functions(output.out);
	put_objects(output.out);
	fiber_foreach(NULL, put_fiber, output.out);
	return fib_output_end(&output);
}
