/* SPDX-License-Identifier: MIT */
/*
 * trim.h - give back the part of a stack that its fiber has used and left again
 *
 * By carriers now and then, with the option trim_waiting_ns, and by fiber_trim().
 */
#ifndef FIB_SCHED_TRIM_H
#define FIB_SCHED_TRIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"

#define FIB_TRIM_AT_ONCE 16u

struct fib_carrier;
struct fib_sched;
struct fiber;

/* I set before start, then read-only · P the carrier that makes the pass · A any carrier, atomic */
struct fib_trim {
	int64_t after;		  /* I: ns that a fiber has waited before; 0: no passes */
	_Atomic uint32_t marks;	  /* A: stacks may be marked (trim.gap) */
	_Atomic uint32_t passing; /* A: a carrier makes a part of a pass */
	_Atomic int64_t begun;	  /* A, P writes: the last pass, ns of the coarse clock */
	int64_t from, until;	  /* P: it concerns waits that began in between */
	size_t next;		  /* P: the record to look at next */
	bool unfinished;	  /* P */
	/* A: a fiber whose stack is marked, + 1 while memory is given back; 0: none */
	_Atomic uintptr_t marked[FIB_TRIM_AT_ONCE];
};

/* What is read of the record of a fiber that is suspended, on a stack of the pool. */
struct fib_suspended {
	struct fiber *fiber;
	uint64_t id, seq;
	uint64_t low, sp, top; /* of the stack */
	int64_t since;	       /* when its wait began, ns of the coarse clock */
	const struct fib_sched *sched;
	unsigned flags, carrier;
};

/* Read a record; false: its fiber is not suspended on a stack of the pool. The record may change at
 * any time: what is returned was true at one moment. From any thread. */
bool fib_suspended_read(struct fiber *fiber, struct fib_suspended *ret);

/* Give back what the fiber does not use of its stack. Nothing may run it meanwhile. Returns the bytes
 * that are not resident any more. */
size_t fib_suspended_trim(const struct fib_suspended *suspended);

/* Make a part of a pass if one is due. In the idle context of c. Returns whether more is to do. */
bool fib_trim_pass(struct fib_carrier *c);

/* When c has to wake for the next pass, ns of the coarse clock, or INT64_MAX. In its idle context,
 * before it sleeps. */
int64_t fib_trim_due(struct fib_carrier *c);

/* Wait until no carrier trims the stack of this fiber, whose sequence number is odd. */
void fib_trim_await(struct fib_trim *trim, const struct fiber *fiber);

#endif
