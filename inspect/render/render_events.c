/* SPDX-License-Identifier: MIT */
/* render_events.c - print events and the places where they happened, as text or JSON */
#include "inspect/render/render_events.h"

#include <inttypes.h>
#include <string.h>

#include "inspect/model/call_names.h"
#include "inspect/text/escape.h"
#include "inspect/text/duration.h"
#include "inspect/symbols/program_frame.h"

static const struct ins_frame *frame_at(struct ins_symbols *symbols, const struct ins_walk *walk,
					unsigned frame)
{
	size_t count;

	return frame < walk->count ? ins_symbols_at(symbols, walk->pc[frame],
						    ins_walk_returned(walk, frame), &count)
				   : NULL;
}

/* "hog_spin at fixtures/hog.c:35"; "" if the walk has no such frame. Returns buf. */
static const char *say_site(struct ins_symbols *symbols, const struct ins_walk *walk,
			    unsigned frame, char *buf, size_t size)
{
	const struct ins_frame *f = frame_at(symbols, walk, frame);
	char function[512], file[1024];

	buf[0] = 0;
	if (!f)
		return buf;
	if (f->function)
		ins_escape(f->function, function, sizeof function);
	else
		snprintf(function, sizeof function, "0x%" PRIx64, f->pc);
	if (f->file)
		snprintf(buf, size, "%s at %s:%d", function, ins_escape(f->file, file, sizeof file),
			 f->line);
	else
		snprintf(buf, size, "%s", function);
	return buf;
}

void ins_text_event(FILE *out, const struct fib_layout *layout, struct ins_symbols *symbols,
		    const struct ins_event *event, const struct ins_walk *walk)
{
	char when[32], took[32], name[sizeof event->fiber.row.name * 4], doing[320], site[1600];

	say_site(symbols, walk, ins_program_frame(symbols, walk), site, sizeof site);
	fprintf(out, "%s %8s%s fiber %" PRIu64 " \"%s\" %s",
		ins_timestamp_format(event->wall, when, sizeof when),
		ins_duration_text(event->fiber.row.age, took, sizeof took),
		event->e.flags & FIB_WIRE_EVENT_LASTS ? " and on" : "", event->e.fiber,
		ins_escape_quoted(event->fiber.row.name, name, sizeof name),
		ins_event_doing(layout, event, doing, sizeof doing));
	if (site[0])
		fprintf(out, ": %s", site);
	else if (walk->reason[0])
		fprintf(out, ": no frames: %s", walk->reason);
	if ((event->e.flags & FIB_WIRE_EVENT_ASTRAY) && site[0])
		fputs("; its stack pointer is outside its stack", out);
	fputc('\n', out);
}

void ins_text_site_events(FILE *out, const struct fib_layout *layout, struct ins_symbols *symbols,
			  const struct ins_site *s)
{
	char doing[320], site[1600], total[32], min[32], median[32], max[32];
	char first[32], last[32], name[sizeof s->event.fiber.row.name * 4];

	say_site(symbols, &s->walk, s->frame, site, sizeof site);
	fprintf(out, "%" PRIu64 " time%s %s", s->count, s->count == 1 ? "" : "s",
		ins_event_doing(layout, &s->event, doing, sizeof doing));
	if (site[0])
		fprintf(out, ": %s", site);
	if ((s->event.e.flags & FIB_WIRE_EVENT_ASTRAY) && site[0])
		fputs("; its stack pointer is outside its stack", out);
	ins_duration_text(s->durations.max, max, sizeof max);
	ins_duration_text(s->first.ago, first, sizeof first);
	ins_duration_text(s->last.ago, last, sizeof last);
	if (s->count == 1)
		fprintf(out, " [%s", max);
	else
		fprintf(out, " [%s in all, %s to %s, median %s",
			ins_duration_text(s->total, total, sizeof total),
			ins_duration_text(s->durations.min, min, sizeof min), max,
			ins_duration_text(s->durations.median, median, sizeof median));
	if (s->count == 1 || strcmp(first, last) == 0)
		fprintf(out, ", %s ago", last);
	else
		fprintf(out, ", first %s ago, last %s ago", first, last);
	if (s->lasting)
		fprintf(out, ", %" PRIu64 " of them going on", s->lasting);
	fprintf(out, "] fiber%s", s->ids.count == 1 ? "" : "s");
	ins_text_sample(out, &s->ids, s->count > INS_SAMPLE && s->ids.count == INS_SAMPLE);
	if (s->ids.count == 1)
		fprintf(out, " \"%s\"",
			ins_escape_quoted(s->event.fiber.row.name, name, sizeof name));
	fputc('\n', out);
	ins_text_frames(out, symbols, &s->walk);
}

static json_t *site_object(struct ins_symbols *symbols, const struct ins_walk *walk, unsigned frame)
{
	const struct ins_frame *f = frame_at(symbols, walk, frame);

	if (!f)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o}", "pc", ins_json_address(f->pc), "function",
			 f->function ? ins_json_text(f->function) : json_null(), "file",
			 f->file ? ins_json_text(f->file) : json_null(), "line",
			 f->line ? json_integer(f->line) : json_null());
}

/* The name of the call, or its number as a text: a key has one type. */
static json_t *call_of(const struct ins_event *event)
{
	const char *name = ins_call_name(event->e.call);
	char number[24];

	if (event->e.doing != FIB_WIRE_DOING_CALLS)
		return json_null();
	snprintf(number, sizeof number, "%lld", (long long)event->e.call);
	return json_string(name ? name : number);
}

/* What it did: the keys that both objects have. */
static int put_doing(json_t *to, const struct fib_layout *layout, const struct ins_event *event)
{
	json_t *fiber = ins_json_fiber(layout, &event->fiber, NULL, NULL);
	json_t *wait = fiber ? json_object_get(fiber, "wait") : NULL;
	int rc = json_object_set_new(to, "kind", json_string(ins_event_kind(event)));

	rc |= json_object_set_new(to, "systemCall", call_of(event));
	if (event->e.doing == FIB_WIRE_DOING_WAITS && wait)
		rc |= json_object_set(to, "wait", wait);
	else
		rc |= json_object_set_new(to, "wait", json_null());
	rc |= json_object_set_new(to, "refused",
				  json_boolean(event->e.flags & FIB_WIRE_EVENT_REFUSED));
	if (event->e.flags & FIB_WIRE_EVENT_ASTRAY)
		rc |= json_object_set_new(to, "pointerOutside", json_true());
	json_decref(fiber);
	return rc;
}

json_t *ins_json_event(const struct fib_layout *layout, struct ins_symbols *symbols,
		       const struct ins_event *event, const struct ins_walk *walk)
{
	const struct fib_wire_event *e = &event->e;
	json_t *ret;

	ret = json_pack("{s:I, s:I, s:o, s:I, s:I, s:I, s:I, s:b, s:o, s:o, s:b}", "number",
			(json_int_t)e->number, "fiberId", (json_int_t)e->fiber, "name",
			ins_json_text(e->name), "beganNs", (json_int_t)e->began, "wallNs",
			(json_int_t)event->wall, "agoNs", (json_int_t)event->ago, "durationNs",
			(json_int_t)event->fiber.row.age, "lasts",
			(e->flags & FIB_WIRE_EVENT_LASTS) != 0, "carrier",
			e->carrier == FIB_WIRE_EVENT_NO_CARRIER ? json_null()
								: json_integer(e->carrier),
			"site", site_object(symbols, walk, ins_program_frame(symbols, walk)),
			"truncated", walk->truncated);
	if (ret && put_doing(ret, layout, event) == 0)
		return ret;
	json_decref(ret);
	return NULL;
}

json_t *ins_json_site(const struct fib_layout *layout, struct ins_symbols *symbols,
		      const struct ins_site *s)
{
	/* Take the frames from a fiber object, which has the right format. */
	json_t *fiber = ins_json_fiber(layout, &s->event.fiber, symbols, &s->walk);
	json_t *ret;

	ret = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:O?, s:b, s:o}", "count",
			(json_int_t)s->count, "lasting", (json_int_t)s->lasting, "firstWallNs",
			(json_int_t)s->first.wall, "firstAgoNs", (json_int_t)s->first.ago,
			"lastWallNs", (json_int_t)s->last.wall, "lastAgoNs",
			(json_int_t)s->last.ago, "fiberIds", ins_json_sample(&s->ids), "durationNs",
			ins_json_distribution(json_pack("{s:I}", "total", (json_int_t)s->total),
					      &s->durations),
			"site", site_object(symbols, &s->walk, s->frame), "frames",
			json_object_get(fiber, "frames"), "truncated", s->walk.truncated, "reason",
			s->walk.reason[0] ? ins_json_text(s->walk.reason) : json_null());
	json_decref(fiber);
	if (ret && put_doing(ret, layout, &s->event) == 0)
		return ret;
	json_decref(ret);
	return NULL;
}
