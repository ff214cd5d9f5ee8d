/* SPDX-License-Identifier: MIT */
/*
 * cmd_events.c - send the recorded events of fibers that delay others
 *
 * Two rings hold events with a stack: the pinned waits of each runtime, written by carriers, and
 * the long runs of the process, written by the service thread. A client that follows a ring asks
 * repeatedly for newer events. Only the first answer says which process this is and which files it
 * has mapped.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "os/os.h"
#include "sched/sched.h"
#include "service/answer.h"
#include "service/command.h"
#include "service/walk.h"
#include "wait/pinned.h"
#include "watch/longrun.h"
#include "watch/tick.h"

#define PIECE 4	   /* events in one piece */
#define TRIES 1000 /* pieces to wait for one event that is being written */

_Static_assert((int)FIB_WIRE_DOING_WAITS == (int)FIB_LONGRUN_WAITS, "the same numbers");
_Static_assert((int)FIB_WIRE_LACK_MEMORY == (int)FIB_LONGRUN_MEMORY, "the same numbers");

/* What the fields of a cursor mean here, after the preface. */
#define AT_RUNTIME(c) ((c)->next)	   /* its serial */
#define AT_SLOT(c)    ((c)->object.row.id) /* slots passed in its ring; for long runs, the number */
#define TRIED(c)      ((c)->object.row.seq)
#define ENTERED(c)    ((c)->object.row.parent)	 /* the serial of the current ring */
#define OLDEST(c)     ((c)->object.row.switches) /* the slot of that ring where reading began */

static bool begin(struct fib_peer *peer, const void *payload, size_t length)
{
	struct fib_wire_events request;
	struct fib_cursor *c = &peer->cursor;

	(void)length;
	memcpy(&request, payload, sizeof request);
	if (request.ring > FIB_WIRE_RING_SLOW) {
		fib_peer_error(peer, -EINVAL, "no such ring: %u", request.ring);
		return false;
	}
	fib_walk_begin(c, request.from);
	c->ring = request.ring;
	c->wanted = request.bare ? 0 : FIB_WIRE_WANT_ALL;
	return true;
}

static void append(struct fib_peer *peer, const struct fib_wire_event *event, const void *stack)
{
	size_t room;
	char *at;

	fib_peer_frame_open(peer, FIB_WIRE_EVENT);
	at = fib_peer_at(peer, &room);
	memcpy(at, event, sizeof *event);
	memcpy(at + sizeof *event, stack, event->stack_size);
	fib_peer_add(peer, sizeof *event + event->stack_size);
	fib_peer_frame_close(peer);
	peer->cursor.end.shown++;
}

/* -- long runs -- */

static void append_run(struct fib_peer *peer, const struct fib_longrun_event *e)
{
	struct fib_wire_event event = {
		.number = e->number,
		.fiber = e->fiber,
		.began = e->began,
		.duration = e->duration,
		.call = e->call,
		.object = e->object,
		.arg = e->arg,
		.sp = e->context.sp,
		.fp = e->context.fp,
		.pc = e->context.pc,
		.doing = e->doing,
		.lack = e->lack,
		.wait_kind = e->wait_kind,
		.carrier = e->carrier,
		.flags = (e->lasts ? FIB_WIRE_EVENT_LASTS : 0) |
			 (fib_longrun_astray(e) ? FIB_WIRE_EVENT_ASTRAY : 0),
		.stack_size = e->stack_size,
		.stack_all = e->stack_low + e->stack_room - e->context.sp,
		.entry = e->entry,
	};

	if (event.stack_all > e->stack_room)
		event.stack_all = e->stack_size;
	memcpy(event.name, e->name, sizeof event.name);
	append(peer, &event, e->stack);
}

static bool step_runs(struct fib_peer *peer)
{
	struct fib_cursor *c = &peer->cursor;
	uint64_t recorded, number;
	int i;

	fib_tick_lock();
	recorded = fib_longrun_recorded();
	number = AT_SLOT(c) > c->id ? AT_SLOT(c) : c->id;
	if (recorded > FIB_LONGRUN_EVENTS && number < recorded - FIB_LONGRUN_EVENTS)
		number = recorded - FIB_LONGRUN_EVENTS;
	for (i = 0; i < PIECE && number < recorded; i++)
		append_run(peer, fib_longrun_event(number++));
	fib_tick_unlock();
	AT_SLOT(c) = number;
	c->end.total = recorded;
	return number >= recorded;
}

/* -- pinned waits -- */

static void append_wait(struct fib_peer *peer, const struct fib_pinned_event *e, int64_t now)
{
	struct fib_wire_event event = {
		.number = e->stamp,
		.fiber = e->fiber,
		.began = e->began,
		.duration = e->duration < 0 ? now - e->began : e->duration,
		.object = e->object,
		.arg = e->arg,
		.sp = e->context.sp,
		.fp = e->context.fp,
		.pc = e->context.pc,
		.doing = FIB_WIRE_DOING_WAITS,
		.lack = e->stack_size ? FIB_WIRE_LACK_NOTHING : FIB_WIRE_LACK_MEMORY,
		.wait_kind = e->kind,
		.carrier = FIB_WIRE_EVENT_NO_CARRIER,
		.flags = e->duration < 0 ? FIB_WIRE_EVENT_LASTS
			 : !e->duration	 ? FIB_WIRE_EVENT_REFUSED
					 : 0,
		.stack_size = e->stack_size,
		.stack_all = e->stack_all,
		.entry = e->entry,
	};

	/* The frame of a waiting fiber is on some stack. */
	if (!e->stack_all && fib_arch_recipe != FIB_RECIPE_NONE)
		event.flags |= FIB_WIRE_EVENT_ASTRAY;
	if (fib_arch_recipe == FIB_RECIPE_NONE) {
		event.lack = FIB_WIRE_LACK_PORT;
		event.stack_size = 0;
	}
	memcpy(event.name, e->name, sizeof event.name);
	append(peer, &event, e->stack);
}

struct piece {
	struct fib_peer *peer;
	int64_t now;
};

/*
 * Start the ring of the next runtime at its oldest event. In a full ring that is the one
 * overwritten next. Events written meanwhile may replace older ones.
 */
static void enter(struct fib_cursor *c, struct fib_sched *s)
{
	const uint64_t recorded = fib_load(&s->pinned.recorded);

	AT_RUNTIME(c) = ENTERED(c) = s->serial;
	AT_SLOT(c) = TRIED(c) = 0;
	OLDEST(c) = recorded > FIB_PINNED_EVENTS ? recorded % FIB_PINNED_EVENTS : 0;
}

/* Read some slots of one runtime's ring. */
static void look_into(struct fib_sched *s, void *arg)
{
	const struct piece *piece = arg;
	struct fib_cursor *c = &piece->peer->cursor;
	struct fib_pinned_event e;
	int i, rc;

	if (s->serial != ENTERED(c))
		enter(c, s);
	for (i = 0; i < PIECE && AT_SLOT(c) < FIB_PINNED_EVENTS; i++) {
		const uint64_t slot = (OLDEST(c) + AT_SLOT(c)) % FIB_PINNED_EVENTS;

		rc = fib_pinned_copy(&s->pinned, (unsigned)slot, &e);
		if (rc == -EAGAIN && TRIED(c)++ < TRIES)
			return;
		TRIED(c) = 0;
		AT_SLOT(c)++;
		if (rc == 0 && e.stamp >= c->id && e.stack_size <= sizeof e.stack)
			append_wait(piece->peer, &e, piece->now);
		else if (rc == -EAGAIN)
			c->end.problems++;
	}
	if (AT_SLOT(c) == FIB_PINNED_EVENTS)
		AT_RUNTIME(c)++;
}

static bool step_waits(struct fib_peer *peer, int64_t now)
{
	struct fib_cursor *c = &peer->cursor;
	struct piece piece = {peer, now};

	if (!AT_RUNTIME(c))
		AT_RUNTIME(c) = 1;
	c->end.total = fib_pinned_stamps();
	return !fib_tick_next(AT_RUNTIME(c) - 1, look_into, &piece);
}

static bool step(struct fib_peer *peer, int64_t now)
{
	struct fib_cursor *c = &peer->cursor;

	if (c->wanted && !fib_answer_preface(peer, now))
		return false;
	if (c->ring == FIB_WIRE_RING_SLOW ? !step_runs(peer) : !step_waits(peer, now))
		return false;
	fib_answer_end(peer);
	return true;
}

const struct fib_command fib_cmd_events = {
	.type = FIB_WIRE_EVENTS,
	.name = "events",
	.least = sizeof(struct fib_wire_events),
	.begin = begin,
	.step = step,
};
