/* SPDX-License-Identifier: MIT */
/*
 * cmd_act.c - cancel a fiber, or wake one that is parked, by its id
 *
 * The record is searched in pieces, as for a fiber that is shown. Then the fiber is acted on in one
 * step, which has no effect if the record belongs to another fiber by then (wait/by_id.c). The
 * result goes to the audit ring.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <fiber/fiber.h>

#include "core/registry.h"
#include "service/answer.h"
#include "service/audit.h"
#include "service/command.h"
#include "service/walk.h"
#include "wait/by_id.h"

/* row: the fiber; NULL: it was not found. */
static void note(const struct fib_peer *peer, const struct fib_row *row, int result)
{
	fib_audit_fiber(peer,
			peer->cursor.act == FIB_WIRE_ACT_WAKE ? FIB_WIRE_AUDIT_WAKE
							      : FIB_WIRE_AUDIT_CANCEL,
			peer->cursor.id, row, result);
}

static bool begin(struct fib_peer *peer, const void *payload, size_t length)
{
	struct fib_wire_act request;

	(void)length;
	memcpy(&request, payload, sizeof request);
	if (!request.id ||
	    (request.what != FIB_WIRE_ACT_CANCEL && request.what != FIB_WIRE_ACT_WAKE)) {
		fib_peer_error(peer, -EINVAL, "nothing of that kind can be done to a fiber");
		return false;
	}
	fib_walk_begin(&peer->cursor, request.id);
	peer->cursor.act = request.what;
	if (fib_answer_mode() < FIB_WIRE_ADMIN) {
		note(peer, NULL, -EPERM);
		fib_peer_error(peer, -EPERM,
			       "this process lets nobody act on its fibers: start it with "
			       "FIBER_CONTROL=admin");
		return false;
	}
	return true;
}

static void refuse(struct fib_peer *peer, const struct fib_row *row, int rc)
{
	const struct fib_cursor *c = &peer->cursor;

	if (rc == -ESRCH && row && row->state == FIBER_DEAD)
		fib_peer_error(peer, rc, "fiber %" PRIu64 " has ended; nobody has joined it yet",
			       c->id);
	else if (rc == -ESRCH)
		fib_peer_error(peer, rc, "no fiber %" PRIu64 ": it has exited or never existed",
			       c->id);
	else if (row->wait_kind != FIB_WAIT_NONE && row->wait_kind != FIB_WAIT_PARK &&
		 row->wait_kind < FIB_WAIT_COUNT)
		fib_peer_error(peer, rc,
			       "fiber %" PRIu64 " waits for something that nobody has granted "
			       "(%s); only one that waits in fiber_park can be woken",
			       c->id, fiber_registry.wait_names[row->wait_kind]);
	else
		fib_peer_error(peer, rc, "fiber %" PRIu64 " does not wait in fiber_park now",
			       c->id);
}

/* The fiber was just seen in record `index`. */
static void act(struct fib_peer *peer, uint64_t index, const struct fib_row *row)
{
	const struct fib_cursor *c = &peer->cursor;
	const bool wake = c->act == FIB_WIRE_ACT_WAKE;
	struct fib_wire_acted acted = {.id = c->id, .what = c->act};
	int rc = wake ? fib_wake_by_id(index, c->id) : fib_cancel_by_id(index, c->id);

	note(peer, row, rc < 0 ? rc : 0);
	if (rc < 0) {
		refuse(peer, row, rc);
		return;
	}
	acted.ended_wait = wake || rc > 0;
	acted.state = row->state;
	acted.wait_kind = row->wait_kind;
	memcpy(acted.name, row->name, sizeof acted.name);
	acted.entry = row->entry;
	fib_peer_frame(peer, FIB_WIRE_ACTED, &acted, sizeof acted);
	fib_answer_end(peer);
}

static bool step(struct fib_peer *peer, int64_t now)
{
	struct fib_walk_budget budget = FIB_WALK_BUDGET;
	struct fib_cursor *c = &peer->cursor;
	struct fib_row row;
	uint64_t index;

	while (fib_walk_next(c, &budget, &index)) {
		if (!fib_sample_row(index, now, &row) || row.id != c->id)
			continue;
		c->end.shown = 1;
		act(peer, index, &row);
		return true;
	}
	if (!fib_walk_done(c))
		return false;
	note(peer, NULL, -ESRCH);
	refuse(peer, NULL, -ESRCH);
	return true;
}

const struct fib_command fib_cmd_act = {
	.type = FIB_WIRE_ACT,
	.name = "act",
	.least = sizeof(struct fib_wire_act),
	.begin = begin,
	.step = step,
};
