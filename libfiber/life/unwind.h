/* SPDX-License-Identifier: MIT */
/* unwind.h - a fiber that ends early runs the destructors of its C++ frames. See unwind.c. */
#ifndef FIB_LIFE_UNWIND_H
#define FIB_LIFE_UNWIND_H

#include <stdbool.h>

#include "core/record.h"

/* Whether the calling fiber has asked for it and is not at it already. */
bool fib_unwind_wanted(const struct fiber *fiber);

/* Run what the frames of the calling fiber have still to do, the innermost first, and end it. Returns where that cannot
 * begin: the program has no unwinder, or no memory. */
void fib_unwind(struct fiber *fiber);

#endif
