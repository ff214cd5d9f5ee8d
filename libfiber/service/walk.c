/* SPDX-License-Identifier: MIT */
/*
 * walk.c - going through the registry in pieces
 *
 * A million records are too many to look at between two ticks of the clock, so a walk keeps its place in
 * a cursor and does a budgeted piece at a time. Records never move, so the place stays good; fibers that
 * come and go meanwhile are seen or not, each at most once. Only records that existed when the
 * walk began are looked at: a program that spawns without end does not keep it going without end.
 */
#include "service/walk.h"

#include <string.h>

#include "core/registry.h"
#include "os/os.h"

void fib_walk_begin(struct fib_cursor *cursor, uint64_t id)
{
	cursor->next = 0;
	cursor->committed = fib_registry_committed();
	cursor->id = id;
	cursor->began = 0;
	memset(&cursor->end, 0, sizeof cursor->end);
}

bool fib_walk_done(const struct fib_cursor *cursor)
{
	return cursor->next >= cursor->committed;
}

bool fib_walk_next(struct fib_cursor *cursor, struct fib_walk_budget *budget, uint64_t *ret_index)
{
	if (!cursor->began)
		cursor->began = fib_os_now();
	while (!fib_walk_done(cursor) && budget->fibers && budget->records) {
		uint64_t index = cursor->next++;
		uint64_t id = fib_sample_id(index);

		budget->records--;
		if (!id)
			continue;
		cursor->end.total++;
		if (cursor->id && cursor->id != id)
			continue;
		budget->fibers--;
		*ret_index = index;
		return true;
	}
	return false;
}

bool fib_walk_count(struct fib_cursor *cursor)
{
	struct fib_walk_budget budget = FIB_WALK_BUDGET;
	uint64_t committed = fib_registry_committed();

	for (; cursor->counted < committed && budget.records; budget.records--)
		if (fib_sample_id(cursor->counted++))
			cursor->fibers++;
	return cursor->counted >= committed;
}

void fib_walk_finish(struct fib_cursor *cursor)
{
	cursor->end.sampled_ns = fib_os_now() - cursor->began;
}

/* False when no fiber lives there any more, or another than is looked for. */
static bool sample(struct fib_cursor *c, uint64_t index, int64_t now, struct fib_row *row)
{
	int rc;

	if (!fib_sample_fiber(index, now, &c->object, row, &rc) || (c->id && row->id != c->id))
		return false;
	if (rc < 0)
		c->end.problems++;
	return true;
}

bool fib_walk_rows(struct fib_peer *peer, int64_t now)
{
	struct fib_walk_budget budget = FIB_WALK_BUDGET;
	struct fib_cursor *c = &peer->cursor;
	struct fib_wire_rows head = {.row_size = sizeof(struct fib_row)};
	struct fib_wire_rows *at;
	struct fib_row row;
	uint64_t index;
	size_t room;

	/* An object's holder is at most as old as this piece. */
	memset(&c->object, 0, sizeof c->object);
	fib_peer_frame_open(peer, FIB_WIRE_ROWS);
	at = fib_peer_at(peer, &room);
	fib_peer_add(peer, sizeof head);
	while (fib_walk_next(c, &budget, &index)) {
		if (!sample(c, index, now, &row)) {
			c->end.total--; /* it ended between the two looks */
			continue;
		}
		memcpy(fib_peer_at(peer, &room), &row, sizeof row);
		fib_peer_add(peer, sizeof row);
		head.count++;
	}
	memcpy(at, &head, sizeof head);
	if (head.count)
		fib_peer_frame_close(peer);
	else
		fib_peer_frame_drop(peer);
	c->end.shown += head.count;
	if (fib_walk_done(c))
		fib_walk_finish(c);
	return fib_walk_done(c);
}
