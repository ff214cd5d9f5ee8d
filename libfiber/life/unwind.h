/* SPDX-License-Identifier: MIT */
/* unwind.h - run the destructors of a fiber's C++ frames when it ends early; see unwind.c */
#ifndef FIB_LIFE_UNWIND_H
#define FIB_LIFE_UNWIND_H

#include <stdbool.h>

#include "core/record.h"

/* Returns whether the calling fiber is to be unwound and is not being unwound already. */
bool fib_unwind_wanted(const struct fiber *fiber);

/*
 * Run the destructors of the calling fiber's frames, the innermost first, and end the fiber.
 * Returns if that cannot start: the program has no unwinder, or no memory.
 */
void fib_unwind(struct fiber *fiber);

#endif
