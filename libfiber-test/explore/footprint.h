/* SPDX-License-Identifier: MIT */
/* footprint.h - what a step of a fiber touches that other fibers can reach */
#ifndef FIB_TEST_FOOTPRINT_H
#define FIB_TEST_FOOTPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "explore/explorer.h"

struct fib_footprint {
	bool all;     /* it may depend on every other step */
	uintptr_t at; /* the object, or memory */
	size_t size;  /* 0: it touches nothing */
	bool writes;
};

/* A schedule begins. */
void fib_footprint_begin(void);

/*
 * The next step of a fiber with this intent, as far as the intent says it. A step may turn out to touch
 * more: fib_footprint_end() tells.
 */
struct fib_footprint fib_footprint_of(const struct fib_intent *intent);

/* A fiber with this intent starts a step. */
void fib_footprint_start(const struct fib_intent *intent);

/* The step has ended. What it touched. */
struct fib_footprint fib_footprint_end(void);

/* The running step depends on all others; so does each later one of the schedule. */
void fib_footprint_all(void);
void fib_footprint_rest(void);

/* Whether steps of different fibers may lead elsewhere in another order. */
bool fib_footprint_depend(const struct fib_footprint *a, const struct fib_footprint *b);

#endif
