/* SPDX-License-Identifier: MIT */
/*
 * stress.h - use a primitive from many fibers and threads at random, and detect a hang
 *
 * A theme is a set of actors, fibers and plain threads, that use one primitive in every way at
 * random: with deadlines in the past, soon and never, with sleeps, yields and cancellations. Each
 * actor reports before each step. An actor that reports nothing for long has missed a wake-up: the
 * driver then names it, dumps every fiber and aborts. A theme checks its invariants all the time.
 *
 * A client goes on until the time is up. A server, which provides what the clients wait for, goes
 * on until every client of its theme has ended. A mortal is a fiber that is cancelled now and then
 * at any point, and then starts anew. A bound actor stays on one carrier; consecutive bound actors
 * are on different ones.
 */
#ifndef STRESS_STRESS_H
#define STRESS_STRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fiber.h>

struct stress_actor;
typedef void stress_body(struct stress_actor *actor);

enum { STRESS_SERVER = 1, STRESS_MORTAL = 2, STRESS_THREAD = 4, STRESS_BOUND = 8 };

struct stress_theme {
	const char *name;
	void (*begin)(void); /* reset the theme's state, add its actors */
	void (*check)(void); /* called after all have ended; may be NULL */
};

extern const struct stress_theme stress_mutex, stress_park, stress_cond, stress_chan, stress_close,
	stress_sem, stress_rwlock, stress_event, stress_barrier, stress_waitgroup, stress_life,
	stress_group, stress_time, stress_block, stress_stream, stress_runtimes, stress_call,
	stress_cancel, stress_crowd, stress_look, stress_accept, stress_stall, stress_mask;

/* Called in begin(): add n actors of the theme. stress_arg() returns arg. */
void stress_add(const char *name, unsigned flags, unsigned n, stress_body *body, void *arg);

/* All functions below are called by an actor itself. */

void *stress_arg(const struct stress_actor *actor);
/* The actor's index among all actors of the run, from 0. */
unsigned stress_number(const struct stress_actor *actor);

/* Report the next step and its name. False: the actor must end. */
bool stress_on(struct stress_actor *actor, const char *what);

/* Report a step that must be done in any case. */
void stress_at(struct stress_actor *actor, const char *what);

/* A random number of 0 .. n - 1. */
unsigned stress_rand(struct stress_actor *actor, unsigned n);

/*
 * A random deadline: in the past, now, soon, or never. stress_soon() never returns FIBER_FOREVER.
 */
int64_t stress_deadline(struct stress_actor *actor);
int64_t stress_soon(struct stress_actor *actor);

/* At random: nothing, a yield, a spin or a short sleep. */
void stress_pause(struct stress_actor *actor);

/* The runtime of this run. */
struct fiber_runtime *stress_runtime(void);

/* Spawn a fiber, from a fiber or a thread. ret NULL: detached. */
void stress_spawn(const char *name, fiber_fn *fn, void *arg, struct fiber **ret);

/* Report a broken invariant, dump every fiber, abort. */
_Noreturn void stress_wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Check the result of a call that may time out or be cancelled: any other error is wrong. */
void stress_expect(int rc, const char *call);

/* A lock for a few instructions; a cancelled fiber can take it too. */
void stress_guard(_Atomic int *lock);
void stress_unguard(_Atomic int *lock);

#endif
