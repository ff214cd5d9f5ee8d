/* SPDX-License-Identifier: MIT */
/* recordings.h - made-up recordings of a few fibers, with times that are easy to add up */
#ifndef UNIT_INSPECT_RECORDINGS_H
#define UNIT_INSPECT_RECORDINGS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fiber/fiber.h>

#include "inspect/recording/recording.h"
#include "inspect/recording/recording_write.h"
#include "inspect/text/read_file.h"
#include "layout/layout.h"
#include "tests/harness/paths.h"

#define BEGAN 1000000 /* ns; ticks run twice as fast and start at 0 */

struct made {
	struct ins_recording_writer *w;
	struct fib_recording_head head;
	char path[HARNESS_PATH];
};

/* A recording from BEGAN to `length` ns later. */
static inline struct made made_begin(const char *name, int64_t length)
{
	const struct fib_recording_clock clock[2] = {
		{2 * BEGAN, BEGAN}, {2 * (uint64_t)(BEGAN + length), BEGAN + length}};
	struct ins_error error = {""};
	struct made m = {.head = {
				 .version = FIB_RECORDING_VERSION,
				 .order = FIB_RECORDING_ORDER,
				 .pid = 42,
				 .began = BEGAN,
				 .ended = BEGAN + length,
				 .name = "made",
				 .host = "here",
			 }};

	memcpy(m.head.magic, FIB_RECORDING_MAGIC, sizeof m.head.magic);
	if (ins_recording_begin(harness_file(m.path, name), true, &m.head, &error, &m.w) < 0)
		abort();
	ins_recording_put(m.w, FIB_RECORDING_CLOCKS, clock, sizeof clock);
	return m;
}

/* Add one event, `at` ns after the start. */
static inline struct fib_event made_event(unsigned type, int64_t at, uint64_t fiber)
{
	return (struct fib_event){
		.time = 2 * (uint64_t)(BEGAN + at), .fiber = fiber, .type = (uint8_t)type};
}

static inline struct fib_event made_run(int64_t at, uint64_t next, unsigned state, unsigned kind,
					uint64_t object)
{
	struct fib_event e = made_event(FIB_EVENT_RUN, at, next);

	e.state = (uint8_t)state;
	e.kind = (uint8_t)kind;
	e.object = object;
	return e;
}

static inline struct fib_event made_wake(int64_t at, uint64_t fiber, uint64_t waker, unsigned kind)
{
	struct fib_event e = made_event(FIB_EVENT_WAKE, at, fiber);

	e.object = waker;
	e.kind = (uint8_t)kind;
	return e;
}

/* Add a stack sample of a fiber at a time, in a wait that began at `since`. */
static inline void made_sample(struct made *m, uint64_t fiber, uint64_t stack, int64_t at,
			       int64_t since, unsigned kind, uint64_t object)
{
	const struct fib_recording_sample s = {
		.fiber = fiber,
		.stack = stack,
		.wait_object = kind == FIB_WAIT_FD ? 0 : object,
		.wait_arg = kind == FIB_WAIT_FD || kind == FIB_WAIT_JOIN ? object : 0,
		.since = BEGAN + since,
		.from = BEGAN + at,
		.to = BEGAN + at + 10,
		.wait_kind = (uint8_t)kind,
	};
	const struct fib_recording_look look = {BEGAN + at, BEGAN + at + 10, 1, 1, 0};

	ins_recording_put(m->w, FIB_RECORDING_SAMPLES, &s, sizeof s);
	ins_recording_put(m->w, FIB_RECORDING_LOOKS, &look, sizeof look);
}

static inline void made_ring(struct made *m, uint32_t carrier, uint64_t lost,
			     const struct fib_event *events, uint32_t n)
{
	const struct fib_recording_events head = {1, carrier, n, lost};

	ins_recording_put_events(m->w, &head, events);
}

static inline struct ins_recording *made_end(struct made *m)
{
	struct ins_recording *r;
	struct ins_error error = {""};

	ins_recording_put_text(m->w, FIB_RECORDING_WORDS, FIB_WAIT_PARK, "park");
	ins_recording_put_text(m->w, FIB_RECORDING_WORDS, FIB_WAIT_MUTEX, "mutex");
	ins_recording_put_text(m->w, FIB_RECORDING_WORDS, FIB_WAIT_SLEEP, "sleep");
	ins_recording_put_text(m->w, FIB_RECORDING_WORDS, FIB_WAIT_FD, "fd");
	ins_recording_put_text(m->w, FIB_RECORDING_WORDS, FIB_WAIT_JOIN, "join");
	if (ins_recording_end(m->w, &m->head, &error) < 0 ||
	    ins_recording_open(m->path, &error, &r) < 0) {
		fprintf(stderr, "%s\n", error.text);
		abort();
	}
	return r;
}

/*
 * 1000 ns of three fibers on two carriers:
 *
 *	1 "one"  runs 100-300 on 0, waits for a mutex 300-500, runnable 500-600, runs 600-700, exits
 *	2 "two"  spawned at 200 by 1, runs 300-900 on 0 after 1, yields at 900, stays runnable
 *	3        sleeps from before the start until 400, is woken by the carrier, runs 450-550 on 1,
 *		 wakes 1 at 500, then waits until the end
 *
 * The second time, fiber 1 runs on carrier 1, to which it migrates.
 */
static inline struct ins_recording *made_three(void)
{
	struct made m = made_begin("three.rec", 1000);
	struct fib_recording_fiber first[2] = {
		{.id = 1, .entry = 0x10, .since = BEGAN, .state = FIBER_RUNNABLE, .name = "one"},
		{.id = 3,
		 .entry = 0x30,
		 .since = BEGAN - 500,
		 .state = FIBER_SUSPENDED,
		 .wait_kind = FIB_WAIT_SLEEP},
	};
	struct fib_event zero[] = {
		made_run(100, 1, FIB_EVENT_NOBODY, 0, 0),
		made_event(FIB_EVENT_SPAWN, 200, 2),
		{.type = FIB_EVENT_NAME, .fiber = 2},
		made_run(300, 2, FIBER_SUSPENDED, FIB_WAIT_MUTEX, 0xabc),
		made_run(900, 0, FIBER_RUNNABLE, FIB_WAIT_YIELD, 0),
	};
	struct fib_event one[] = {
		made_wake(400, 3, 0, FIB_WAIT_SLEEP),
		made_run(450, 3, FIB_EVENT_NOBODY, 0, 0),
		made_wake(500, 1, 3, FIB_WAIT_MUTEX),
		made_run(550, 0, FIBER_SUSPENDED, FIB_WAIT_PARK, 0),
		made_event(FIB_EVENT_STEAL, 590, 1),
		made_run(600, 1, FIB_EVENT_NOBODY, 0, 0),
		made_event(FIB_EVENT_EXIT, 700, 1),
		made_run(700, 0, FIBER_DEAD, 0, 0),
	};
	struct fib_recording_fiber last[2] = {
		{.id = 2, .entry = 0x20, .since = BEGAN, .state = FIBER_RUNNABLE, .name = "two"},
		{.id = 3,
		 .entry = 0x30,
		 .since = BEGAN + 550,
		 .seen = BEGAN + 900,
		 .state = FIBER_SUSPENDED,
		 .wait_kind = FIB_WAIT_PARK},
	};

	zero[1].object = 0x20;
	memcpy(&zero[2].time, "two", 3);
	zero[2].time &= 0xffffff;
	one[5].flags = FIB_EVENT_MIGRATED;
	ins_recording_put(m.w, FIB_RECORDING_FIBERS, first, sizeof first);
	made_ring(&m, 0, 0, zero, 5);
	made_ring(&m, 1, 0, one, 8);
	made_ring(&m, FIB_EVENT_OUTSIDE, 0, NULL, 0);
	ins_recording_put(m.w, FIB_RECORDING_LAST, last, sizeof last);
	ins_recording_put_text(m.w, FIB_RECORDING_PLACES, 0x10, "serve</script>");
	ins_recording_put_text(m.w, FIB_RECORDING_PLACES, 0x30, "nap");
	ins_recording_put_text(m.w, FIB_RECORDING_OBJECTS, 0xabc, "lock");
	ins_recording_put_text(m.w, FIB_RECORDING_SHAPES, 1, "run;nap;fiber_park");
	made_sample(&m, 3, 1, 890, 550, FIB_WAIT_PARK, 0);
	return made_end(&m);
}

#endif
