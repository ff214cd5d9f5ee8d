/* SPDX-License-Identifier: MIT */
/* cmd_list.c - every fiber, without its stack. */
#include "service/answer.h"
#include "service/command.h"
#include "service/walk.h"

static bool begin(struct fib_peer *peer, const void *payload, size_t length)
{
	(void)payload;
	(void)length;
	fib_walk_begin(&peer->cursor, 0);
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
