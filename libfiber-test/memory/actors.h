/* SPDX-License-Identifier: MIT */
/*
 * actors.h - the fibers of a schedule, as those who access memory
 *
 * Each has a slot in vector clocks. The slot of a fiber that has exited is given to a new one whose
 * spawner knows of the exit (its clock covers it): every access of the first fiber then happens
 * before those of the second, so that one entry serves both.
 */
#ifndef FIB_TEST_ACTORS_H
#define FIB_TEST_ACTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "memory/clocks.h"

struct fiber;

/* A lock in the list of those that a fiber holds. Lists share their ends and never change. */
struct fib_held {
	const void *lock, *at; /* at: the return address of the call that took it */
	bool writes;
	const struct fib_held *more;
};

struct fib_actor {
	uint32_t number; /* of the fiber within the schedule */
	uint32_t slot;
	uint32_t touched;	 /* the step of its last access */
	struct fib_clock *clock; /* its own entry is its step */
	struct fib_clock *fence; /* its clock at its last release fence; NULL: none */
	struct fib_clock *loads; /* what its relaxed loads would have acquired; for fences */
	const struct fib_held *held;
};

/* Whether a schedule runs. */
bool fib_actors_on(void);

/* No schedule, or the caller is no fiber: NULL. */
struct fib_actor *fib_actor_self(void);

/* That of another fiber. */
struct fib_actor *fib_actor_of(const struct fiber *fiber);

/* The actor of a new fiber, after what the spawner (NULL: no fiber) has done. */
void fib_actor_born(const struct fiber *fiber, const struct fib_actor *spawner);

/* It accesses no memory any more. */
void fib_actor_exits(const struct fib_actor *actor);

/* Its step: separates what it has done so far from what it does next. */
static inline uint32_t fib_actor_step(const struct fib_actor *actor)
{
	return actor->clock->at[actor->slot];
}

static inline void fib_actor_advance(struct fib_actor *actor)
{
	actor->clock->at[actor->slot]++;
}

/* A schedule starts or has ended. */
void fib_actors_begin(void);
void fib_actors_end(void);

/* The calling thread acts for a fiber that waits for it; NULL: no more. */
void fib_actors_lend(const struct fiber *fiber);

#endif
