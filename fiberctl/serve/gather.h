/* SPDX-License-Identifier: MIT */
/*
 * gather.h - one answer about all programs, put together from an answer of each
 *
 * A program that does not answer in time is missing in the answer, which says so.
 */
#ifndef SERVE_GATHER_H
#define SERVE_GATHER_H

#include "fiberctl/serve/desk.h"

enum serve_gather_what { SERVE_GATHER_PROCESSES, SERVE_GATHER_METRICS };

/* The answers that are being put together, and the last ones. Empty when zeroed. */
struct serve_gathers {
	struct serve_gather *running[2]; /* by enum serve_gather_what; NULL: none */
	struct serve_answer *last[2];
	int64_t when[2];
};

/* Ask about all programs of the desk; the waiter's done() gets the answer. now: ns. */
void serve_gather_ask(struct serve_gathers *gathers, struct serve_desk *desk,
		      enum serve_gather_what what, struct serve_waiter *waiter, int64_t now);

void serve_gathers_end(struct serve_gathers *gathers);

#endif
