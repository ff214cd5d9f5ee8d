/* SPDX-License-Identifier: MIT */
/*
 * rule_failed.c - a background fiber has failed, and was not joined
 *
 * A background fiber runs as long as its program does. One that has ended with an error other than a
 * cancellation (fiber_fail) no longer does its work. Of a detached fiber nothing is left, so that is
 * not reported.
 */
#include "inspect/why/collect.h"

#include <fiber/fiber.h>

#include "inspect/text/duration.h"

static bool has_failed(const struct ins_look *look, const struct ins_fiber *fiber)
{
	return fiber->row.state == FIBER_DEAD && (fiber->row.flags & FIB_ROW_FAILED) &&
	       (fiber->row.flags & FIBER_BACKGROUND) && ins_look_stayed(look, fiber);
}

/* The first one is the subject. */
static int64_t failed(const struct ins_look *look, const struct ins_fiber *fiber)
{
	return has_failed(look, fiber) ? 0 : -1;
}

static int find(struct ins_look *look, struct ins_findings *ret)
{
	return ins_collect(look, &ins_rule_failed, failed, ret);
}

/* The text that fiber_fail() was given, from sources that have the program's memory. */
static void say_failure(const struct ins_look *look, const struct fib_row *row,
			struct ins_strbuf *line)
{
	const struct fib_layout_field f = look->source->layout.fields[FIB_FIELD_FAILURE];
	char text[128] = "";
	const size_t size = f.size < sizeof text - 1 ? f.size : sizeof text - 1;

	if (!size || !look->source->memory ||
	    look->source->memory(look->source, row->record + f.offset, text, size) < 0 || !text[0])
		return;
	ins_strbuf_text(line, ": ");
	ins_strbuf_escaped(line, text);
}

static void say(struct ins_look *look, struct ins_finding *f)
{
	struct ins_strbuf line = ins_finding_headline(f);
	struct ins_fiber first;
	char entry[256];

	ins_look_get(look, f->subject, &first);
	ins_look_say_count(&line, f->fibers, "background fiber has failed",
			   "background fibers have failed");
	line = ins_finding_line(f);
	ins_look_say_fiber(&first, &line);
	ins_strbuf_text(&line, " ended ");
	ins_duration_say(&line, first.row.age);
	ins_strbuf_text(&line, " ago");
	say_failure(look, &first.row, &line);
	line = ins_finding_line(f);
	ins_look_place_of(look, first.row.entry, false, entry, sizeof entry);
	ins_look_place_of(look, first.row.spawn_pc, true, f->place, sizeof f->place);
	ins_strbuf_text(&line, "it ran ");
	ins_strbuf_text(&line, entry[0] ? entry : "an unknown function");
	if (f->place[0]) {
		ins_strbuf_text(&line, ", spawned at ");
		ins_strbuf_text(&line, f->place);
	}
	f->more[0] = "show";
	f->more_id[0] = first.row.id;
}

const struct ins_rule ins_rule_failed = {"failed", "background fibers that have failed", find, say,
					 INS_NEEDS_ONE};
