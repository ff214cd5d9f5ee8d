/* SPDX-License-Identifier: MIT */
/* round.h - send the same requests to many processes in parallel */
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
	/* Sent one after another over one connection; owned by the caller. */
	struct tool_request question[TOOL_ROUND_QUESTIONS];
	unsigned questions;
	/* The result: */
	unsigned answered; /* number of answered questions */
	int rc; /* error of the first unanswered question, as from tool_frames(); 0: all answered */
	char why[256]; /* the process' unescaped text about that, or "" */
	/* used during the round */
	bool over, connected;
	struct fib_wire_client client;
	int64_t spent; /* ns used of its budget */
};

struct tool_round {
	struct tool_asked *all;
	size_t count, room;
	bool crowded; /* a user has more processes than the limit */
};

/* Add every socket that tool_sockets_each() finds, each process of a user once. 0, or -ENOMEM. */
int tool_round_gather(struct tool_round *round);

/*
 * Ask all processes. timeout_ns: the limit for one answer, and for all of them, except for those
 * that wait for a slot.
 */
void tool_round_ask(struct tool_round *round, int64_t timeout_ns);

/*
 * Ask each process for its identity. Returns an array with one entry per process, valid for those
 * that answered; the caller frees it. NULL: no memory.
 */
struct fib_wire_process *tool_round_hello(struct tool_round *round, int64_t timeout_ns);

void tool_round_free(struct tool_round *round);

/* -- processes with an incomplete answer -- */

/*
 * Print once on stderr that the process does not finish its answer. The exit code shows that data
 * is missing.
 */
void tool_left_out(const struct tool_socket *socket);

/* The exit code for `code`: TOOL_PARTIAL instead of TOOL_WELL if something was left out. */
int tool_left_out_code(int code);

#endif
