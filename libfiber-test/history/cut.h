/* SPDX-License-Identifier: MIT */
/* cut.h - keep of a bad history the calls that matter */
#ifndef FIB_TEST_CUT_H
#define FIB_TEST_CUT_H

#include <stdint.h>

#include <fiber/test.h>

/*
 * calls: a history that no order explains, changed in place; fibers: of each call, moved alike.
 * key: the one that shows it, if model->by_key. Calls that returned after the last one that matters
 * have end 0. alive: called every now and then. Returns how many calls are left; *ret_last is the one
 * with whose return the history becomes bad.
 */
uint32_t fib_cut(const struct fiber_test_model *model, struct fiber_test_call calls[],
		 uint32_t fibers[], uint32_t n, int64_t key, void (*alive)(void),
		 uint32_t *ret_last);

#endif
