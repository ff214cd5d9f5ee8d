/* SPDX-License-Identifier: MIT */
/*
 * link.h - the messages between the server and the worker of a program
 *
 * The server sends the questions of a turn. The worker sends the answer to each as soon as it has
 * it, and OVER at the end. Both are the same program, so structs are sent as they are.
 */
#ifndef SERVE_LINK_H
#define SERVE_LINK_H

#include <stdint.h>

#define SERVE_TURN_MOST 16 /* questions of a turn */

struct serve_turn {
	uint32_t count; /* questions that follow, each with its NUL */
	uint32_t bytes; /* of all of them */
};

enum serve_frame_kind { SERVE_FRAME_ANSWER, SERVE_FRAME_TOTALS, SERVE_FRAME_OVER };

struct serve_frame {
	uint32_t kind;	 /* enum serve_frame_kind */
	uint32_t index;	 /* ANSWER: of the question in the turn */
	int32_t code;	 /* ANSWER: the exit code, or a negative errno */
	uint32_t size;	 /* bytes of the answer, or of the totals (JSON), that follow */
	uint32_t errors; /* ANSWER: bytes of the messages that follow it */
	uint32_t unused;
	/* OVER: ns of CPU time for the questions of each share (enum serve_share), without verdicts. */
	int64_t cpu[3];
};

#endif
