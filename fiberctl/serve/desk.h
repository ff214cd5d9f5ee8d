/* SPDX-License-Identifier: MIT */
/*
 * desk.h - questions about programs, and the turns in which they are asked
 *
 * A program is contacted in turns: at most one a second, and fewer if a turn costs more than a
 * twentieth of a second of CPU time. A turn has all questions that were asked since the previous one.
 * Everybody who asks the same question before the next turn gets the same answer. So the load on a
 * program does not depend on the number of viewers.
 */
#ifndef SERVE_DESK_H
#define SERVE_DESK_H

#include <poll.h>

#include "fiberctl/serve/programs.h"
#include "fiberctl/serve/target.h"

#define SERVE_TARGETS 64
#define SERVE_WORKERS 8

struct serve_desk {
	struct serve_programs programs;
	struct serve_target *target[SERVE_TARGETS];
	unsigned targets;
	size_t bytes; /* of all answers */
};

/*
 * Ask a question about a program. The waiter's done() gets the answer. now: ns, CLOCK_MONOTONIC, as
 * in the other functions.
 */
void serve_desk_ask(struct serve_desk *desk, const struct serve_found *program,
		    const char *question, struct serve_waiter *waiter, int64_t now);

/* The history of a program; NULL: it was not looked at. */
const struct serve_history *serve_desk_history(const struct serve_desk *desk,
					       const struct serve_found *program);

/* Fill in what to poll for, at most SERVE_TARGETS + 1 entries. Returns their number. */
unsigned serve_desk_fill(const struct serve_desk *desk, struct pollfd *slots);

/* Handle what poll() reports of them, and start the turns that are due. */
void serve_desk_work(struct serve_desk *desk, const struct pollfd *slots, unsigned count,
		     int64_t now);

/* When serve_desk_work() should be called next, ns. */
int64_t serve_desk_until(const struct serve_desk *desk, int64_t now);

void serve_desk_end(struct serve_desk *desk);

#endif
