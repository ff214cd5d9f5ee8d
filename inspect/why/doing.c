/* SPDX-License-Identifier: MIT */
/*
 * doing.c - what a fiber does that runs: it computes, or is in a system call; and where
 *
 * The stack of a fiber that computes is not known without a stop. But the program's watchdog has copied
 * it once, if the run is longer than its limit. That was at the start of the run: the fiber may be
 * elsewhere now, and the sentence says so.
 */
#include "inspect/why/doing.h"

#include <fiber/fiber.h>

#include "inspect/model/event.h"
#include "inspect/model/running.h"
#include "inspect/symbols/program_frame.h"
#include "inspect/unwind/event_walk.h"

const char *ins_why_doing(const struct ins_look *look, const struct ins_fiber *fiber, char *buf,
			  size_t size)
{
	struct ins_running running;

	buf[0] = 0;
	if (ins_look_waits(fiber) || ins_running_read(look->source, fiber, &running) < 0)
		return buf;
	ins_running_words(running.doing, running.call, buf, size);
	ins_running_free(&running);
	return buf;
}

/* What the watchdog has seen of a run that lasts. */
struct seen {
	struct ins_look *look;
	uint64_t id;
	char *place; /* "": not seen, or not where */
	char doing[64];
	struct ins_walk walk;
};

static int take(void *context, const struct ins_event *event)
{
	struct seen *s = context;
	unsigned i;

	if (event->e.fiber != s->id || !(event->e.flags & FIB_WIRE_EVENT_LASTS) ||
	    event->e.doing > FIB_WIRE_DOING_FAULTS)
		return 0;
	ins_event_doing(&s->look->source->layout, event, s->doing, sizeof s->doing);
	ins_event_walk(s->look->unwinder, event, &s->walk);
	if (!s->walk.count)
		return 0;
	i = ins_program_frame(s->look->symbols, &s->walk);
	ins_look_place_of(s->look, s->walk.pc[i], ins_walk_returned(&s->walk, i), s->place,
			  INS_WHY_PLACE);
	return 0;
}

/* Set s->doing and the place, or leave them empty. */
static void ask_watchdog(struct ins_look *look, struct seen *s)
{
	const struct fib_wire_events request = {.ring = FIB_WIRE_RING_SLOW, .bare = 1};
	/* That nothing was seen is no problem of the answer. */
	struct ins_problems *problems = &look->source->problems;
	const struct ins_problems before = *problems;
	struct ins_error error = {""};
	struct ins_summary summary;

	*problems = (struct ins_problems){.count = 0};
	ins_events_read(look->source, &request, take, s, &summary, &error);
	ins_problems_free(problems);
	*problems = before;
}

const char *ins_why_doing_at(struct ins_look *look, const struct ins_fiber *fiber,
			     char place[INS_WHY_PLACE], char *buf, size_t size)
{
	struct seen seen = {.look = look, .id = fiber->row.id, .place = place};
	struct ins_strbuf line = ins_strbuf(buf, size);
	char doing[64];

	ins_why_doing(look, fiber, doing, sizeof doing);
	ins_look_place(look, fiber, place, INS_WHY_PLACE);
	if (!place[0] && fiber->row.state == FIBER_RUNNING && !ins_look_waits(fiber)) {
		ask_watchdog(look, &seen);
		if (!doing[0] && seen.doing[0]) {
			ins_strbuf_text(&line, "seen ");
			ins_strbuf_text(&line, seen.doing);
		} else if (place[0]) {
			ins_strbuf_text(&line, doing);
			ins_strbuf_text(&line, ", and was seen");
		}
	}
	if (!buf[0])
		ins_strbuf_text(&line, doing);
	ins_look_say_at(place, &line);
	return buf;
}
