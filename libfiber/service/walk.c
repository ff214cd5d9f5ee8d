/* SPDX-License-Identifier: MIT */
/*
 * walk.c - go through the registry in pieces
 *
 * A million records are too many for one pause between two ticks. So a walk keeps its position in a
 * cursor and does a limited piece at a time. Records never move, so the position stays valid.
 * Fibers that are started or exit meanwhile are seen at most once. Only records that existed when
 * the walk began are looked at, so a program that spawns without end cannot prolong the walk.
 */
#include "service/walk.h"

#include <string.h>

#include "core/registry.h"
#include "os/os.h"
#include "service/answer.h"
#include "service/kept.h"

void fib_walk_begin(struct fib_cursor *cursor, uint64_t id)
{
	cursor->next = 0;
	cursor->committed = fib_registry_committed();
	cursor->id = id;
	cursor->wanted = FIB_WIRE_WANT_ALL;
	cursor->began = 0;
	memset(&cursor->end, 0, sizeof cursor->end);
}

bool fib_walk_done(const struct fib_cursor *cursor)
{
	return cursor->next >= cursor->committed;
}

#define AHEAD 16 /* prefetch distance for ids, in records; they need not exist */

static uint64_t next_id(uint64_t index)
{
	__builtin_prefetch(&fib_registry_at(index + AHEAD)->id, 0, 0);
	return fib_sample_id(index);
}

bool fib_walk_next(struct fib_cursor *cursor, struct fib_walk_budget *budget, uint64_t *ret_index)
{
	if (!cursor->began)
		cursor->began = fib_os_now();
	while (!fib_walk_done(cursor) && budget->fibers && budget->records) {
		uint64_t index = cursor->next++;
		uint64_t id = next_id(index);

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

void fib_walk_finish(struct fib_cursor *cursor)
{
	cursor->end.sampled_ns = fib_os_now() - cursor->began;
}

#define BRIEF_ROWS  23 /* rows of a piece that takes the CPU from a carrier: some 10 us */
#define WHOLE_AHEAD 4  /* prefetch distance for whole records */

/* A frame of rows being made, and the rows that still need their object's name and holder. */
struct piece {
	struct fib_peer *peer;
	int64_t now;
	struct fib_wire_rows head;
	unsigned waiting;
	struct fib_row rows[FIB_SAMPLE_OBJECTS];
	uint64_t index[FIB_SAMPLE_OBJECTS]; /* the record index of each */
};

/* Labels are as long as the fields before them. Only the read locks come after them. */
uint32_t fib_walk_row_size(uint32_t wanted)
{
	if (wanted & FIB_WIRE_WANT_READS)
		return sizeof(struct fib_row);
	if (wanted & FIB_WIRE_WANT_LABELS)
		return offsetof(struct fib_row, readers);
	return offsetof(struct fib_row, labels);
}

/* rc: the result of reading its object. */
static void append(struct piece *p, struct fib_row *row, int rc)
{
	struct fib_cursor *c = &p->peer->cursor;
	const int pagemap =
		c->wanted & FIB_WIRE_WANT_HIGH_WATER ? fib_kept_file(FIB_KEPT_PAGEMAP) : -1;
	const int extras = fib_sample_extras(row, fib_kept_pipe(), pagemap, c->wanted);
	size_t room;

	fib_answer_refused(p->peer, extras, "mincore", "how deep each stack has been");
	fib_answer_refused(p->peer, rc, "process_vm_readv and pipe2", "what each fiber waits for");
	if (extras < 0 || rc < 0)
		c->end.problems++;
	memcpy(fib_peer_at(p->peer, &room), row, p->head.row_size);
	fib_peer_add(p->peer, p->head.row_size);
	p->head.count++;
}

/* Sample the records first: they should be of one moment. */
static void sample_records(struct piece *p)
{
	struct fib_walk_budget budget = FIB_WALK_BUDGET;
	struct fib_cursor *c = &p->peer->cursor;
	uint64_t index;

	/* Extras that cost a system call per fiber need small pieces. */
	if (!(c->wanted & (FIB_WIRE_WANT_HIGH_WATER | FIB_WIRE_WANT_LABELS)))
		budget.fibers = p->peer->brief ? BRIEF_ROWS : FIB_SAMPLE_OBJECTS;
	while (fib_walk_next(c, &budget, &index)) {
		struct fib_row *row = &p->rows[p->waiting];

		fib_sample_prefetch(index + WHOLE_AHEAD);
		if (!fib_sample_row(index, p->now, row) || (c->id && row->id != c->id))
			c->end.total--; /* it exited between the two looks */
		else if (!fib_row_has_object(row))
			append(p, row, 0);
		else
			p->index[p->waiting++] = index;
	}
}

/*
 * Check that what was read of the fiber's object belongs to its row. If the fiber has moved on,
 * sample it again, alone. False: it has exited.
 */
static bool settle(struct piece *p, unsigned i, int *rc)
{
	const struct fib_cursor *c = &p->peer->cursor;
	struct fib_sample_object alone = {.pipe = fib_kept_pipe()};
	struct fib_row *row = &p->rows[i];

	if (fib_sample_current(row))
		return true;
	alone.pagemap = fib_kept_file(FIB_KEPT_PAGEMAP);
	return fib_sample_fiber(p->index[i], p->now, &alone, row, rc) &&
	       (!c->id || row->id == c->id);
}

static void sample_objects(struct piece *p)
{
	int rcs[FIB_SAMPLE_OBJECTS];
	unsigned i;

	fib_sample_objects(p->rows, p->waiting, fib_kept_pipe(), rcs);
	for (i = 0; i < p->waiting; i++) {
		if (settle(p, i, &rcs[i]))
			append(p, &p->rows[i], rcs[i]);
		else
			p->peer->cursor.end.total--;
	}
}

bool fib_walk_rows(struct fib_peer *peer, int64_t now)
{
	struct fib_cursor *c = &peer->cursor;
	struct fib_wire_rows *at;
	struct piece p;
	size_t room;

	p.peer = peer;
	p.now = now;
	p.head = (struct fib_wire_rows){fib_walk_row_size(c->wanted), 0};
	p.waiting = 0;
	fib_peer_frame_open(peer, FIB_WIRE_ROWS);
	at = fib_peer_at(peer, &room);
	fib_peer_add(peer, sizeof p.head);
	sample_records(&p);
	sample_objects(&p);
	memcpy(at, &p.head, sizeof p.head);
	if (p.head.count)
		fib_peer_frame_close(peer);
	else
		fib_peer_frame_drop(peer);
	c->end.shown += p.head.count;
	if (fib_walk_done(c))
		fib_walk_finish(c);
	return fib_walk_done(c);
}
