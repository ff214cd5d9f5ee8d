/* SPDX-License-Identifier: MIT */
/*
 * cmd_events.c - send the recorded events of fibers that delay others, and samples of a profile
 *
 * Three rings hold events with a stack: the pinned waits of each runtime, written by carriers; the
 * long runs of the process, and the samples of a profile, written by the service thread. A client
 * that follows a ring asks repeatedly for newer events. Only the first answer says which process
 * this is and which files it has mapped.
 *
 * To ask for samples is to have them taken (watch/profile.c). That interrupts the program's threads,
 * so it is a change: it needs the right to change settings, and its start is in the audit.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "os/os.h"
#include "sched/sched.h"
#include "service/answer.h"
#include "service/audit.h"
#include "service/command.h"
#include "service/walk.h"
#include "wait/pinned.h"
#include "watch/longrun.h"
#include "watch/profile.h"
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

/* Renew the lease of a profile. *ret_before: the rate before. Returns 0 or a negative errno. */
static int renew(uint32_t hz, unsigned *ret_before)
{
	const unsigned carriers = fib_tick_carriers();
	int rc;

	fib_tick_lock();
	*ret_before = fib_profile_hz();
	fib_tick_unlock();
	if (fib_answer_mode() < FIB_WIRE_RW)
		return -EPERM;
	if (!hz || hz > FIB_WIRE_PROFILE_HZ)
		return -EINVAL;
	if (!carriers)
		return -ESRCH;
	fib_tick_lock();
	rc = fib_profile_renew(hz, carriers, fib_os_now());
	fib_tick_unlock();
	return rc;
}

static const char *why_not(int rc)
{
	switch (rc) {
	case -EPERM:
		return "this process lets nobody change settings (FIBER_CONTROL=ro), and a profile "
		       "interrupts its threads: start it with FIBER_CONTROL=rw";
	case -EINVAL:
		return "no such rate: a profile has 1 to 100 samples a second";
	case -ESRCH:
		return "no runtime runs in this process";
	default:
		return "this process has no memory left for the samples";
	}
}

static bool begin_profile(struct fib_peer *peer, uint32_t hz)
{
	unsigned before;
	const int rc = renew(hz, &before);

	if (rc < 0 || !before)
		fib_audit(peer, FIB_WIRE_AUDIT_PROFILE, before, hz, rc);
	if (rc < 0)
		fib_peer_error(peer, rc, "%s", why_not(rc));
	else
		peer->granted = true; /* a client that is too slow loses samples */
	return rc == 0;
}

static bool begin(struct fib_peer *peer, const void *payload, size_t length)
{
	struct fib_wire_events request = {0};
	struct fib_cursor *c = &peer->cursor;

	memcpy(&request, payload, length < sizeof request ? length : sizeof request);
	if (request.ring > FIB_WIRE_RING_PROFILE) {
		fib_peer_error(peer, -EINVAL, "no such ring: %u", request.ring);
		return false;
	}
	if (request.ring == FIB_WIRE_RING_PROFILE && !begin_profile(peer, request.hz))
		return false;
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

/* -- samples of a profile -- */

static void append_sample(struct fib_peer *peer, const struct fib_profile_sample *s)
{
	struct fib_wire_event event = {
		.number = s->number,
		.fiber = s->fiber,
		.began = s->at,
		.duration = s->cpu,
		.sp = s->sp,
		.fp = s->fp,
		.pc = s->pc,
		.doing = s->fiber || s->lack != FIB_LONGRUN_NOTHING ? FIB_WIRE_DOING_COMPUTES
								    : FIB_WIRE_DOING_SCHEDULES,
		.lack = s->lack,
		.carrier = s->carrier,
		.stack_size = s->stack_size,
		.stack_all = s->stack_all,
		.entry = s->entry,
	};

	memcpy(event.name, s->name, sizeof event.name);
	append(peer, &event, s + 1);
}

static bool step_samples(struct fib_peer *peer)
{
	struct fib_cursor *c = &peer->cursor;
	const struct fib_profile_sample *s;
	uint64_t number, taken;
	int i;

	fib_tick_lock();
	taken = fib_profile_taken();
	number = AT_SLOT(c) > c->id ? AT_SLOT(c) : c->id;
	if (number < fib_profile_oldest())
		number = fib_profile_oldest();
	for (i = 0; i < PIECE && (s = fib_profile_at(number)); i++, number++)
		append_sample(peer, s);
	fib_tick_unlock();
	AT_SLOT(c) = number;
	c->end.total = taken;
	return number >= taken;
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

static bool step_ring(struct fib_peer *peer, int64_t now)
{
	switch (peer->cursor.ring) {
	case FIB_WIRE_RING_SLOW:
		return step_runs(peer);
	case FIB_WIRE_RING_PROFILE:
		return step_samples(peer);
	default:
		return step_waits(peer, now);
	}
}

static bool step(struct fib_peer *peer, int64_t now)
{
	struct fib_cursor *c = &peer->cursor;

	if (c->wanted && !fib_answer_preface(peer, now))
		return false;
	if (!step_ring(peer, now))
		return false;
	fib_answer_end(peer);
	return true;
}

const struct fib_command fib_cmd_events = {
	.type = FIB_WIRE_EVENTS,
	.name = "events",
	.least = offsetof(struct fib_wire_events, hz), /* what older tools send */
	.begin = begin,
	.step = step,
};
