/* SPDX-License-Identifier: MIT */
/* budget.h - limit the time and the size of an answer that is being received; used by the tools.
 * See budget.c. */
#ifndef FIB_WIRE_BUDGET_H
#define FIB_WIRE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

/* Waiting time in ns for the whole of a small answer: hello, settings, carriers, one thread, ... */
#define FIB_WIRE_SMALL INT64_C(1000000000)
/* Waiting time in ns that a large answer (fibers, stacks, events, recordings) has without
 * progress. */
#define FIB_WIRE_PATIENCE INT64_C(10000000000)
/* ns that each new thing in a large answer adds. */
#define FIB_WIRE_NEWS INT64_C(250000000)
/* ns that the progress of a walk (struct fib_wire_still) adds from its start to its end. */
#define FIB_WIRE_WALK INT64_C(20000000000)
/* Limit in ns for any answer, whatever its progress. */
#define FIB_WIRE_LONGEST INT64_C(7200000000000)
/* Limit in bytes for a small answer, and for a large one between two new things. */
#define FIB_WIRE_SMALL_BYTES (1u << 20)
#define FIB_WIRE_IDLE_BYTES  (8u << 20)

/* The budget of one answer. Zeroed memory is a budget that has not begun. */
struct fib_wire_budget {
	enum fib_wire_type request; /* being answered; 0: none */
	bool spoke;		    /* bytes have arrived */
	int64_t left;		    /* ns that may still be waited */
	int64_t until;		    /* the end, whatever the progress: ns of CLOCK_MONOTONIC */
	uint64_t bytes;		    /* since the last progress; of a small answer all bytes */
	unsigned place;		    /* furthest progress of the walk, in 1/1024 */
};

/* Begin the answer to a request. timeout_ns: how long the caller waits for a program that counts
 * its fibers. */
void fib_wire_budget_begin(struct fib_wire_budget *budget, enum fib_wire_type request,
			   int64_t timeout_ns, int64_t now);

/* Charge ns of waiting without data. Returns 0; -ETIMEDOUT: the budget is used up and nothing has
 * arrived; -ETIME: it is used up and the answer does not end. */
int fib_wire_budget_wait(struct fib_wire_budget *budget, int64_t ns);

/* Record that bytes have arrived. Returns 0; -ETIME: the answer has taken too long. */
int fib_wire_budget_come(struct fib_wire_budget *budget, size_t bytes, int64_t now);

/* Check whether a frame with `length` bytes of payload, which may not have arrived yet, exceeds the
 * budget. Returns 0; -ETIME: the answer does not end. */
int fib_wire_budget_frame(const struct fib_wire_budget *budget, size_t length);

/* Record that count new things have arrived: fibers, events, pieces of mappings. */
void fib_wire_budget_news(struct fib_wire_budget *budget, uint64_t count);

/* Record that a STILL frame has arrived. */
void fib_wire_budget_still(struct fib_wire_budget *budget, const void *payload, size_t length);

#endif
