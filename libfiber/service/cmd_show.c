/* SPDX-License-Identifier: MIT */
/* cmd_show.c - send one fiber, without its stack */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "service/answer.h"
#include "service/command.h"
#include "service/walk.h"

static bool begin(struct fib_peer *peer, const void *payload, size_t length)
{
	struct fib_wire_id request;

	(void)length;
	memcpy(&request, payload, sizeof request);
	if (!request.id) {
		fib_peer_error(peer, -EINVAL, "fiber ids count from 1");
		return false;
	}
	fib_walk_begin(&peer->cursor, request.id);
	return true;
}

static bool step(struct fib_peer *peer, int64_t now)
{
	struct fib_cursor *c = &peer->cursor;

	if (!fib_answer_preface(peer, now))
		return false;
	if (!fib_walk_rows(peer, now))
		return false;
	if (c->end.shown)
		fib_answer_end(peer);
	else
		fib_peer_error(peer, -ESRCH, "no fiber %" PRIu64 ": it has exited or never existed",
			       c->id);
	return true;
}

const struct fib_command fib_cmd_show = {
	.type = FIB_WIRE_SHOW,
	.name = "show",
	.least = sizeof(struct fib_wire_id),
	.begin = begin,
	.step = step,
};
