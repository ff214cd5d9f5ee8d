/* SPDX-License-Identifier: MIT */
/*
 * touched.h - which calls touch an object that more than one fiber touches
 *
 * Learnt from the first schedule. An object is known by the places of the calls that touched it
 * (fib_explorer_place()), because addresses differ from one process to the next.
 */
#ifndef FIB_TEST_TOUCHED_H
#define FIB_TEST_TOUCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "explore/explorer.h"

/* Forget; learn a call of the first schedule. */
void fib_touched_begin(void);
void fib_touched_call(uint32_t number, const struct fib_intent *intent);

/* How many objects are shared. Select one, counted from 0 in the order of their first use. */
unsigned fib_touched_objects(void);
void fib_touched_select(unsigned object);

/* Whether what the fiber is about to call touches the selected object; how many such calls fiber `number` made. */
bool fib_touched_by(uint32_t number);
unsigned fib_touched_calls(uint32_t number);

#endif
