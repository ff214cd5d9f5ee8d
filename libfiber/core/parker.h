/* SPDX-License-Identifier: MIT */
/*
 * parker.h - the state of a wait, and which of several wakers wins
 *
 * A waiting fiber or thread can be woken by a thread that grants what it waits for, and by its
 * deadline. Exactly one waker may win. The loser must not touch the waiter any more, which may
 * already wait for something else.
 *
 * The rule: a wait has a ticket, and the ticket and its outcome are one word. Waking is a
 * compare-and-swap from (ticket, ARMED) to (ticket, outcome); it succeeds once per ticket. Only the
 * waiter itself starts a new ticket, and only when the old one has an outcome. A parker inside a
 * fiber's record is never unmapped, so a late waker can always read the word and see that the
 * ticket has changed.
 */
#ifndef FIB_CORE_PARKER_H
#define FIB_CORE_PARKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/list.h"
#include "core/sole.h"

enum fib_outcome {
	FIB_OUTCOME_IDLE,	/* not waiting; 0, as in a record that was never used */
	FIB_OUTCOME_ARMED,	/* still waiting */
	FIB_OUTCOME_ARMED_PARK, /* waiting in fiber_park: a token may wake it */
	FIB_OUTCOME_WOKEN,
	FIB_OUTCOME_TIMED_OUT,
	FIB_OUTCOME_CLAIMED, /* of a wait that blocks: woken soon, its waker still uses its node */
	FIB_OUTCOME_CANCELLED,
	FIB_OUTCOME_ARMED_BLOCKING,	 /* still waiting, a pinned fiber: wake it by futex */
	FIB_OUTCOME_ARMED_UNCANCELLABLE, /* still waiting, and cannot be cancelled */
	/* FIRM in fiber_park. */
	FIB_OUTCOME_ARMED_PARK_UNCANCELLABLE = FIB_OUTCOME_ARMED_PARK | 8,
};
#define FIB_OUTCOME_BITS 4
#define FIB_OUTCOME_MASK 15u

struct fiber;

struct fib_parker {
	_Atomic uint32_t word; /* A: ticket << FIB_OUTCOME_BITS | outcome */
	uint32_t blocks;       /* I while armed: a thread sleeps on word, wake it by futex */
	struct fiber *fiber;   /* I: NULL for a plain thread */
};

/* One place in one wait queue. Lives on the waiter's stack. */
struct fib_waiter {
	struct fib_list link; /* L under the queue's lock */
	bool linked;	      /* L */
	bool receives;	      /* I: it is a struct fib_receiver's (io/descriptor.h) */
	bool moved;	      /* L, in the queue of a mutex: its wait is claimed (sync/mutex.c) */
	short events;	      /* I once linked, of a wait for a descriptor (io/waiters.h) */
	struct fib_parker *parker;
	uint64_t who;	       /* fiber id, or FIB_HOLDER_THREAD | tid */
	uint32_t armed;	       /* the word while this wait is undecided */
	struct fib_parker own; /* used by plain threads, and so is the rest */
	/* I: what it waits for, for readers outside the process (struct fib_layout_thread_wait) */
	uint32_t kind; /* enum fib_wait_kind */
	uint64_t object, arg;
};

/* Whether a word is that of a wait in fiber_park, firm or not. */
static inline bool fib_parker_parks(uint32_t word)
{
	return (word & 7u) == FIB_OUTCOME_ARMED_PARK;
}

static inline enum fib_outcome fib_parker_outcome(struct fib_parker *p)
{
	/* pairs: parker.claim -- the winner's earlier writes are visible. */
	return (enum fib_outcome)(fib_load_acquire(&p->word) & FIB_OUTCOME_MASK);
}

/* Start a ticket. Called by the waiter itself. Returns the armed word. */
static inline uint32_t fib_parker_arm(struct fib_parker *p, enum fib_outcome armed)
{
	uint32_t word = ((fib_load(&p->word) >> FIB_OUTCOME_BITS) + 1) << FIB_OUTCOME_BITS | armed;

	/* Release: a thread that claims sees the wait record. fiber_park, which must also see a
	 * token left by a thread that did not see this word, adds its own fence (pairs:
	 * park.token). */
	fib_store_release(&p->word, word);
	return word;
}

/* Try to decide the wait that was armed as `armed`. Returns true for the one winner, which must
 * then make the waiter run. */
static inline bool fib_parker_claim(struct fib_parker *p, uint32_t armed, enum fib_outcome outcome)
{
	/* label: parker.claim */
	return fib_sole_cas32(&p->word, armed, (armed & ~FIB_OUTCOME_MASK) | outcome);
}

/* The same within a section, see sole.h; section 0: not in one, but fib_sole_enter() was called. */
static inline bool fib_parker_claim_in(uint32_t section, struct fib_parker *p, uint32_t armed,
				       enum fib_outcome outcome)
{
	/* pairs: parker.claim */
	return fib_sole_cas32_in(section, &p->word, armed, (armed & ~FIB_OUTCOME_MASK) | outcome);
}

#endif
