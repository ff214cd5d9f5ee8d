/* SPDX-License-Identifier: MIT */
/* programs.h - small programs with and without a data race */
#ifndef TESTS_MEMORY_PROGRAMS_H
#define TESTS_MEMORY_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>

#include <fiber.h>
#include <fiber/test.h>

struct program {
	const char *name;
	fiber_fn *a, *b;      /* two fibers that the first one spawns and joins */
	fiber_test_fn *first; /* in their place */
	bool races;
};

/* Programs of locks and the like, of channels and descriptors, of atomics, of memory. */
extern const struct program lock_programs[], passing_programs[], atomic_programs[],
	memory_programs[];
extern const size_t lock_count, passing_count, atomic_count, memory_count;

/* Spawn both, join both. */
void run_both(fiber_fn *a, fiber_fn *b);

/* What the programs work on; zero at the start of each schedule. */
extern int data, other;
extern struct objects {
	struct fiber_mutex mutex, mutex2;
	struct fiber_rwlock rwlock;
	struct fiber_cond cond;
	struct fiber_sem sem;
	struct fiber_event event;
	struct fiber_barrier barrier;
	struct fiber_once once;
	struct fiber_waitgroup waitgroup;
	struct fiber *fiber;
	struct fiber_chan *chan;
	struct fiber_timer *timer;
	int fds[2];
	int ready;
} o;

#endif
