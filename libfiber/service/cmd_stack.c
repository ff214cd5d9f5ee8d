/* SPDX-License-Identifier: MIT */
/*
 * cmd_stack.c - send fibers with their registers and the bytes of their stacks
 *
 * The library does not unwind. The tools do, with the program's files and without a time limit.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "os/os.h"
#include "service/answer.h"
#include "service/command.h"
#include "service/kept.h"
#include "service/walk.h"
#include "watch/tick.h"

/* A piece ends with the stack that passes this many bytes, so that pieces stay short. */
#define PIECE (16u << 10)
/*
 * A piece has at most so many fibers. Each takes two system calls for its stack, usually two more
 * for its object: 3 us each if the data is in no cache.
 */
#define FIBERS	     8
#define BRIEF_FIBERS 1

static bool begin(struct fib_peer *peer, const void *payload, size_t length)
{
	struct fib_wire_stack_of request = {.wanted = FIB_WIRE_WANT_ALL};

	memcpy(&request, payload,
	       length < sizeof request ? sizeof(struct fib_wire_id) : sizeof request);
	fib_walk_begin(&peer->cursor, request.id);
	peer->cursor.wanted = request.wanted;
	peer->cursor.several = fib_tick_several();
	return true;
}

/* Whether one fiber alone has signalled what it waits for, and no deadline ends the wait. */
static bool needs_toucher(const struct fib_row *row)
{
	return row->toucher && row->toucher != FIB_TOUCHER_SEVERAL && row->deadline == INT64_MAX;
}

/*
 * Most fibers have no labels, hold no locks, and do not wait for one fiber's signal. The room of
 * these would be an eighth of the answer for a million fibers. Which runtime a fiber belongs to
 * matters only if there are several.
 */
static uint32_t row_size(const struct fib_cursor *c, const struct fib_row *row)
{
	uint32_t wanted = c->wanted;

	if (!row->labels)
		wanted &= ~FIB_WIRE_WANT_LABELS;
	if (!row->readers && !row->reading && !row->held && !row->pinned_waits && !row->bound &&
	    !needs_toucher(row) && !c->several)
		wanted &= ~FIB_WIRE_WANT_READS;
	return fib_walk_row_size(wanted);
}

/* Store the times before and after the copy: with a recording, they identify the fiber's wait. */
static void note_time(const struct fib_cursor *c, int64_t began, struct fib_wire_stack *head)
{
	const int64_t took = (fib_os_now() - began) / 1000 + 1;

	head->after = (uint32_t)((began - c->process_time) / 1000);
	head->flags |= (took < FIB_WIRE_STACK_LONG ? (uint32_t)took : FIB_WIRE_STACK_LONG)
		       << FIB_WIRE_STACK_TOOK;
}

/* Append the fiber in record `index`. False: it has exited. */
static bool append(struct fib_peer *peer, uint64_t index)
{
	const int64_t began = fib_os_now();
	struct fib_cursor *c = &peer->cursor;
	const uint32_t most = fib_walk_row_size(c->wanted);
	struct fib_wire_stack head = {0};
	unsigned char *at;
	struct fib_row row;
	size_t room, before = sizeof head + most;
	bool alive;
	int rc;

	fib_peer_frame_open(peer, FIB_WIRE_STACKS);
	at = fib_peer_at(peer, &room);
	alive = fib_sample_stack(index, began, fib_kept_pipe(), &row, at + before, room - before,
				 &head.stack_size, &head.flags);
	/* A stack behind a short row is moved down. */
	fib_peer_touch(peer, before + head.stack_size);
	if (!alive || (c->id && row.id != c->id)) {
		fib_peer_frame_drop(peer);
		return false;
	}
	rc = fib_sample_details(&row, &c->object, c->wanted);
	fib_answer_refused(peer, rc, "mincore", "how deep each stack has been");
	/* The stack is of the row's moment. What was read later may not be. */
	if (!fib_sample_current(&row)) {
		fib_sample_forget_object(&row);
		rc = 0;
	}
	if (rc < 0 || head.flags)
		c->end.problems++;
	note_time(c, began, &head);
	head.row_size = row_size(c, &row);
	memcpy(at, &head, sizeof head);
	memcpy(at + sizeof head, &row, head.row_size);
	if (head.row_size < most)
		memmove(at + sizeof head + head.row_size, at + before, head.stack_size);
	fib_peer_add(peer, sizeof head + head.row_size + head.stack_size);
	fib_peer_frame_close(peer);
	return true;
}

static bool step(struct fib_peer *peer, int64_t now)
{
	struct fib_walk_budget budget = {.fibers = peer->brief ? BRIEF_FIBERS : FIBERS,
					 .records = FIB_WALK_RECORDS};
	const size_t most = fib_peer_filled(peer) + PIECE;
	struct fib_cursor *c = &peer->cursor;
	uint64_t index;

	if (!fib_answer_preface(peer, now))
		return false;
	c->object = (struct fib_sample_object){
		.pipe = fib_kept_pipe(),
		.pagemap =
			c->wanted & FIB_WIRE_WANT_HIGH_WATER ? fib_kept_file(FIB_KEPT_PAGEMAP) : -1,
	};
	while (fib_peer_filled(peer) < most && fib_walk_next(c, &budget, &index)) {
		if (append(peer, index))
			c->end.shown++;
		else
			c->end.total--;
	}
	if (!fib_walk_done(c))
		return false;
	fib_walk_finish(c);
	if (c->id && !c->end.shown)
		fib_peer_error(peer, -ESRCH, "no fiber %" PRIu64 ": it has exited or never existed",
			       c->id);
	else
		fib_answer_end(peer);
	return true;
}

const struct fib_command fib_cmd_stack = {
	.type = FIB_WIRE_STACK,
	.name = "stack",
	.least = sizeof(struct fib_wire_id),
	.begin = begin,
	.step = step,
};
