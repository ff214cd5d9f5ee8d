/* SPDX-License-Identifier: MIT */
/* overflow.h - whether a fault address is in a stack's guard */
#ifndef FIB_STACK_OVERFLOW_H
#define FIB_STACK_OVERFLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "stack/stack.h"

/* Return whether address is in the guard below the stack. A foreign stack has no guard of the
 * library: for it, the page below it counts. Async-signal-safe. */
bool fib_stack_overflowed(const struct fib_stack *stack, uint64_t address);

#endif
