/* SPDX-License-Identifier: MIT */
/* budget.h - how long and how much an answer may be that is being received; used by the tools. See budget.c. */
#ifndef FIB_WIRE_BUDGET_H
#define FIB_WIRE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

/* ns that may be waited for the whole of a small answer: hello, settings, carriers, one thread, ... */
#define FIB_WIRE_SMALL INT64_C(1000000000)
/* ns that a large answer (fibers, stacks, events, recordings) may be behind its progress. */
#define FIB_WIRE_PATIENCE INT64_C(10000000000)
/* ns that each new thing in a large answer buys. */
#define FIB_WIRE_NEWS INT64_C(250000000)
/* ns that the place in a walk (struct fib_wire_still) buys from its beginning to its end. */
#define FIB_WIRE_WALK INT64_C(20000000000)
/* ns that any answer may take, whatever its progress. */
#define FIB_WIRE_LONGEST INT64_C(7200000000000)
/* Bytes of a small answer, and of a large one between two things that are new. */
#define FIB_WIRE_SMALL_BYTES (1u << 20)
#define FIB_WIRE_IDLE_BYTES  (8u << 20)

/* Of one answer; zeroed has not begun. */
struct fib_wire_budget {
	enum fib_wire_type request; /* that is answered; 0: none */
	bool spoke;		    /* bytes have come */
	int64_t left;		    /* ns that may still be waited */
	int64_t until;	/* when it is over, whatever its progress: ns of CLOCK_MONOTONIC */
	uint64_t bytes; /* since the last progress; of a small answer all */
	unsigned place; /* the furthest in the walk that was announced, in 1/1024 */
};

/* An answer to a request begins. timeout_ns: the caller's patience with a program that counts its fibers. */
void fib_wire_budget_begin(struct fib_wire_budget *budget, enum fib_wire_type request,
			   int64_t timeout_ns, int64_t now);

/* ns were waited in vain. 0; -ETIMEDOUT: it is over and nothing has come; -ETIME: it is over, the answer does not end. */
int fib_wire_budget_wait(struct fib_wire_budget *budget, int64_t ns);

/* Bytes have come. 0; -ETIME: it has taken too long. */
int fib_wire_budget_come(struct fib_wire_budget *budget, size_t bytes, int64_t now);

/* Whether a frame with `length` bytes of payload, which may not have come yet, is too much. 0; -ETIME: the answer does not end. */
int fib_wire_budget_frame(const struct fib_wire_budget *budget, size_t length);

/* So many things have come that were not there before: fibers, events, pieces of mappings. */
void fib_wire_budget_news(struct fib_wire_budget *budget, uint64_t count);

/* A STILL frame has come. */
void fib_wire_budget_still(struct fib_wire_budget *budget, const void *payload, size_t length);

#endif
