/* SPDX-License-Identifier: MIT */
/* cmd_hello.c - identify the process: one line in a list of processes */
#include "service/answer.h"
#include "service/command.h"

static bool begin(struct fib_peer *peer, const void *payload, size_t length)
{
	(void)peer;
	(void)payload;
	(void)length;
	return true;
}

static bool step(struct fib_peer *peer, int64_t now)
{
	fib_answer_process(peer, now);
	fib_answer_end(peer);
	return true;
}

const struct fib_command fib_cmd_hello = {
	.type = FIB_WIRE_HELLO,
	.name = "hello",
	.begin = begin,
	.step = step,
};
