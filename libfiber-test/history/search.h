/* SPDX-License-Identifier: MIT */
/* search.h - find an order of calls that a model allows */
#ifndef FIB_TEST_SEARCH_H
#define FIB_TEST_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include <fiber/test.h>

/* How far one search goes. */
struct fib_search_limit {
	size_t configurations;
	size_t bytes;  /* of configurations */
	uint64_t work; /* calls looked at */
};

/* For a whole history, and for one of many tries to make it shorter. */
extern const struct fib_search_limit fib_search_whole, fib_search_try;

/*
 * Search an order of the calls calls[which[0..n)] on one state. Calls that did not return come last
 * where the order does not need them; *ret_used is the number of calls before those.
 * Returns 1 and the order, as indices of calls[]; 0: there is none; -ENOMEM: no memory, or a limit.
 */
int fib_search(const struct fiber_test_model *model, const struct fiber_test_call calls[],
	       const uint32_t which[], uint32_t n, const struct fib_search_limit *limit,
	       uint32_t *ret_order, uint32_t *ret_used);

#endif
