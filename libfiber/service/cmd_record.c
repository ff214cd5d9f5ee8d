/* SPDX-License-Identifier: MIT */
/*
 * cmd_record.c - the flight recorder: start, read, stop
 *
 * One read goes through the rings of all runtimes once, some events a piece. It takes from each
 * ring no more than the ring holds, so that a carrier that writes faster than the client reads
 * cannot prolong it without end.
 */
#include <errno.h>
#include <string.h>

#include "os/os.h"
#include "sched/sched.h"
#include "service/answer.h"
#include "service/audit.h"
#include "service/command.h"
#include "service/recording.h"
#include "watch/tick.h"

#define PIECE 1024u /* events */

/* What the fields of a cursor mean here. */
#define AT_RUNTIME(c) ((c)->next)    /* the serial of the runtime being read */
#define AT_RING(c)    ((c)->counted) /* the ring in that runtime */
#define TAKEN(c)      ((c)->fibers)  /* events taken from that ring in this read */
#define READING(c)    ((c)->stage)

static const char *why(int rc)
{
	switch (rc) {
	case -EBUSY:
		return "somebody records already: wait, or end that fibertrace";
	case -ENOMEM:
		return "this process has no memory left for the rings: ask for smaller ones";
	default:
		return "nothing is recorded under that number, or no runtime runs in this process";
	}
}

static bool refuse(struct fib_peer *peer, uint32_t what, uint64_t wanted, int rc, const char *text)
{
	if (what != FIB_WIRE_RECORD_READ)
		fib_audit(peer, FIB_WIRE_AUDIT_RECORD, fib_recording_events(), wanted, rc);
	fib_peer_error(peer, rc, "%s", text);
	return false;
}

static int do_it(struct fib_peer *peer, const struct fib_wire_record *request, int64_t now,
		 struct fib_wire_record_is *ret)
{
	const unsigned before = fib_recording_events();
	int rc;

	switch (request->what) {
	case FIB_WIRE_RECORD_START:
		rc = fib_recording_start(request->events, now, ret);
		break;
	case FIB_WIRE_RECORD_READ:
		return fib_recording_read(request->id, now, ret);
	default:
		rc = fib_recording_stop(request->id, now, ret);
	}
	if (rc == 0)
		fib_audit(peer, FIB_WIRE_AUDIT_RECORD, before, fib_recording_events(), 0);
	return rc;
}

static bool begin(struct fib_peer *peer, const void *payload, size_t length)
{
	struct fib_wire_record_is is;
	struct fib_wire_record request;
	int rc;

	(void)length;
	memcpy(&request, payload, sizeof request);
	if (request.what > FIB_WIRE_RECORD_STOP) {
		fib_peer_error(peer, -EINVAL, "no such act: %u", request.what);
		return false;
	}
	if (fib_answer_mode() < FIB_WIRE_RW)
		return refuse(
			peer, request.what, request.events, -EPERM,
			"this process lets nobody change settings (FIBER_CONTROL=ro): start it "
			"with FIBER_CONTROL=rw");
	rc = do_it(peer, &request, fib_os_now(), &is);
	if (rc < 0)
		return refuse(peer, request.what, request.events, rc, why(rc));
	READING(&peer->cursor) = request.what == FIB_WIRE_RECORD_READ;
	fib_peer_frame(peer, FIB_WIRE_RECORD_IS, &is, sizeof is);
	return true;
}

/* Go to the next ring. */
static void go_on(struct fib_cursor *c)
{
	AT_RING(c)++;
	TAKEN(c) = 0;
}

/* Read a piece of one ring of the runtime. */
static void read_ring(struct fib_sched *s, void *arg)
{
	struct fib_peer *peer = arg;
	struct fib_cursor *c = &peer->cursor;
	struct fib_recorder *r = fib_recorder_of(s);
	struct fib_wire_recorded head = {.event_size = sizeof(struct fib_event)};
	static struct fib_event piece[PIECE]; /* used by the service thread only */
	struct fib_event_ring *ring;
	size_t room;
	char *at;

	if (s->serial != AT_RUNTIME(c)) { /* the previous runtime is done */
		AT_RUNTIME(c) = s->serial;
		AT_RING(c) = 0;
		TAKEN(c) = 0;
	}
	if (!r || AT_RING(c) >= r->rings) {
		AT_RUNTIME(c)++;
		AT_RING(c) = 0;
		return;
	}
	ring = &r->ring[AT_RING(c)];
	fib_peer_frame_open(peer, FIB_WIRE_RECORDED);
	at = fib_peer_at(peer, &room);
	head.count = fib_event_ring_read(ring, piece, PIECE);
	fib_recording_lost(ring->lost - ring->told);
	ring->told = ring->lost;
	head.runtime = s->serial;
	head.carrier = AT_RING(c) == r->rings - 1 ? FIB_EVENT_OUTSIDE : (uint32_t)AT_RING(c);
	head.lost = ring->lost;
	memcpy(at, &head, sizeof head);
	memcpy(at + sizeof head, piece, head.count * sizeof piece[0]);
	fib_peer_add(peer, sizeof head + head.count * sizeof(struct fib_event));
	fib_peer_frame_close(peer);
	c->end.shown += head.count;
	TAKEN(c) += head.count;
	if (!fib_event_ring_more(ring) || TAKEN(c) >= r->events)
		go_on(c);
}

static bool step(struct fib_peer *peer, int64_t now)
{
	struct fib_cursor *c = &peer->cursor;

	(void)now;
	if (READING(c)) {
		if (!AT_RUNTIME(c))
			AT_RUNTIME(c) = 1;
		if (fib_tick_next(AT_RUNTIME(c) - 1, read_ring, peer))
			return false;
	}
	fib_answer_end(peer);
	return true;
}

const struct fib_command fib_cmd_record = {
	.type = FIB_WIRE_RECORD,
	.name = "record",
	.least = sizeof(struct fib_wire_record),
	.begin = begin,
	.step = step,
	.granted = true, /* a client that is too slow loses events */
};
