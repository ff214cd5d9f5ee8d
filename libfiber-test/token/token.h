/* SPDX-License-Identifier: MIT */
/*
 * token.h - a schedule in one word
 *
 *	ft1-IIII-D...CC
 *
 * IIII identifies the test (name, faults, slack, steps), CC is a check of the rest. D... is 0 and the
 * deviations: the choices that differ from their first alternative, each as its distance from the
 * one before and its alternative. Where more deviations exist than fit, it is 1, the seed and the
 * number of the schedule, 0: the one from which strategies learn.
 */
#ifndef FIB_TEST_TOKEN_H
#define FIB_TEST_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "explore/explorer.h"

#define FIB_TOKEN_ROOM 81u
#define FIB_DEVIATIONS 64u

struct fib_deviation {
	uint32_t step;
	uint32_t chosen;
};

struct fib_token {
	uint32_t test; /* 20 bits */
	bool numbered; /* by strategy, seed and number; else by deviations */
	uint64_t seed, number;
	struct fib_deviation at[FIB_DEVIATIONS];
	unsigned n;
};

/* The identity of a test. */
uint32_t fib_token_test(const char *name, unsigned faults, int64_t slack, unsigned steps);

/* Write a token. Returns false if it does not fit. */
bool fib_token_write(const struct fib_token *token, char ret[FIB_TOKEN_ROOM]);

/* Read one. Returns 0, or -EINVAL and why not. */
int fib_token_read(const char *text, struct fib_token *ret, const char **ret_why);

/* The deviations of a schedule. Returns false if there are too many. */
bool fib_token_deviations(const struct fib_step *steps, unsigned n, struct fib_token *ret);

#endif
