/* SPDX-License-Identifier: MIT */
/* round.h - the same questions to many processes, side by side. See round.c. */
#ifndef TOOL_ROUND_H
#define TOOL_ROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/frames.h"
#include "tool/sockets.h"

#define TOOL_ROUND_QUESTIONS 2

/* One process of a round. */
struct tool_asked {
	struct tool_socket socket;
	/* Asked one after another over one connection; the caller's. */
	struct tool_request question[TOOL_ROUND_QUESTIONS];
	unsigned questions;
	/* What came of it: */
	unsigned answered; /* questions */
	int rc; /* of the first that was not answered, as tool_frames() has it; 0: all were */
	char why[256]; /* what the process says about that, as it came; or "" */
	/* while it is asked */
	bool over, connected;
	struct fib_wire_client client;
	int64_t spent; /* ns of its budget */
};

struct tool_round {
	struct tool_asked *all;
	size_t count, room;
	bool crowded; /* a user has too many of them */
};

/* Put every socket that tool_sockets_each() finds into the round, each process of a user once. 0, or -ENOMEM. */
int tool_round_gather(struct tool_round *round);

/* Ask them all. timeout_ns: the patience with one answer; all of them together take
 * no longer than that, but for those that wait for a place. */
void tool_round_ask(struct tool_round *round, int64_t timeout_ns);

/* Ask who each of them is: as many of those as there are processes, of those that answered; the caller's to free. NULL without
 * memory. */
struct fib_wire_process *tool_round_hello(struct tool_round *round, int64_t timeout_ns);

void tool_round_free(struct tool_round *round);

/* -- those that keep an answer from being whole -- */

/* Say on stderr that the process does not end its answer, once. The command's exit code tells that something is missing. */
void tool_left_out(const struct tool_socket *socket);

/* The exit code of a command that ends with `code`: TOOL_PARTIAL for TOOL_WELL where something was left out. */
int tool_left_out_code(int code);

#endif
