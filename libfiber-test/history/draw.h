/* SPDX-License-Identifier: MIT */
/* draw.h - show a history, one column for each fiber */
#ifndef FIB_TEST_DRAW_H
#define FIB_TEST_DRAW_H

#include <stddef.h>
#include <stdint.h>

#include <fiber/test.h>

#define FIB_DRAWING (32u << 10)

/*
 * Write the calls to text, a line for each begin and return in order of time; those of a call that
 * overlaps no other are one line. fibers: of each call; 0: `prepare`. last: the call that is marked;
 * UINT32_MAX: none. At most 12 fibers have a column and the last 80 lines are written, each cell cut
 * to 24 bytes; FIB_DRAWING bytes are always enough.
 */
void fib_draw(const struct fiber_test_model *model, const struct fiber_test_call calls[],
	      const uint32_t fibers[], uint32_t n, uint32_t last, char *text, size_t size);

#endif
