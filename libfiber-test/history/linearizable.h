/* SPDX-License-Identifier: MIT */
/* linearizable.h - find an order of a whole history */
#ifndef FIB_TEST_LINEARIZABLE_H
#define FIB_TEST_LINEARIZABLE_H

#include <stddef.h>
#include <stdint.h>

#include <fiber/test.h>

#include "history/search.h"

/*
 * The order of a checked history on a checked model, each key by itself where the model says so.
 * Returns 1 and the order, *ret_used of whose calls have happened; 0: there is none, and *ret_key is
 * the key that shows it (undefined unless model->by_key); -ENOMEM: no memory, or a limit.
 */
int fib_linearizable(const struct fiber_test_model *model, const struct fiber_test_call calls[],
		     size_t n, const struct fib_search_limit *limit, uint32_t *ret_order,
		     uint32_t *ret_used, int64_t *ret_key);

#endif
