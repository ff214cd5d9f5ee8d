/* SPDX-License-Identifier: MIT */
/*
 * stress.h - many at one primitive, and somebody who sees that nobody stands still
 *
 * A theme is a set of actors, fibers and plain threads, that use one primitive in every way at random:
 * deadlines in the past, in a moment and never, sleeps, yields, cancellations. Each says before each thing it
 * does that it goes on. Whoever says nothing for long has been forgotten by somebody: a lost wake-up. Then
 * the driver says who it is, dumps every fiber and aborts. What a theme promises it checks all the time.
 *
 * A client goes on until time is up. A server, who gives what the clients wait for, goes on until
 * every client of its theme has ended. A mortal is a fiber that is cancelled now and then, in whatever it does,
 * and begins anew. One that is bound stays on one carrier, those that follow each other on different ones.
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
	void (*begin)(void); /* reset what the theme has, add its actors */
	void (*check)(void); /* all have ended; may be NULL */
};

extern const struct stress_theme stress_mutex, stress_park, stress_cond, stress_chan, stress_close,
	stress_sem, stress_rwlock, stress_event, stress_barrier, stress_waitgroup, stress_life,
	stress_group, stress_time, stress_block, stress_stream, stress_runtimes, stress_call,
	stress_cancel, stress_crowd, stress_look, stress_accept, stress_stall, stress_mask;

/* In begin: n more actors of the theme. arg is found in stress_arg(). */
void stress_add(const char *name, unsigned flags, unsigned n, stress_body *body, void *arg);

/* The rest by an actor itself. */

void *stress_arg(const struct stress_actor *actor);
/* Its place among all actors of the run: from 0. */
unsigned stress_number(const struct stress_actor *actor);

/* Another step begins, and what it is. False: it is time to end. */
bool stress_on(struct stress_actor *actor, const char *what);

/* A step begins that must be done in any case. */
void stress_at(struct stress_actor *actor, const char *what);

/* 0 .. n - 1. */
unsigned stress_rand(struct stress_actor *actor, unsigned n);

/* In the past, at once, soon, or never. The second: soon, never `never`. */
int64_t stress_deadline(struct stress_actor *actor);
int64_t stress_soon(struct stress_actor *actor);

/* Nothing, a yield, a spin or a short sleep. */
void stress_pause(struct stress_actor *actor);

/* The runtime of this run. */
struct fiber_runtime *stress_runtime(void);

/* Spawn a fiber, from a fiber or a thread. ret NULL: detached. */
void stress_spawn(const char *name, fiber_fn *fn, void *arg, struct fiber **ret);

/* A promise was broken: say so, dump every fiber, abort. */
_Noreturn void stress_wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A call that may time out or be cancelled gave rc: anything else is wrong. */
void stress_expect(int rc, const char *call);

/* A lock for a few instructions that a cancelled fiber can take as well. */
void stress_guard(_Atomic int *lock);
void stress_unguard(_Atomic int *lock);

#endif
