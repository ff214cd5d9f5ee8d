/* SPDX-License-Identifier: MIT */
/* cmd_list.c - send every fiber, without stacks */
#include <string.h>

#include "service/answer.h"
#include "service/command.h"
#include "service/walk.h"

static bool begin(struct fib_peer *peer, const void *payload, size_t length)
{
	struct fib_wire_list request = {FIB_WIRE_WANT_ALL};

	if (length >= sizeof request)
		memcpy(&request, payload, sizeof request);
	fib_walk_begin(&peer->cursor, 0);
	peer->cursor.wanted = request.wanted;
	return true;
}

static bool step(struct fib_peer *peer, int64_t now)
{
	if (!fib_answer_preface(peer, now))
		return false;
	if (!fib_walk_rows(peer, now))
		return false;
	fib_answer_end(peer);
	return true;
}

const struct fib_command fib_cmd_list = {
	.type = FIB_WIRE_LIST,
	.name = "list",
	.begin = begin,
	.step = step,
};
