/* SPDX-License-Identifier: MIT */
/* overflow.c - tell a stack overflow from any other fault */
#include "stack/overflow.h"

#include "stack/pool.h"

bool fib_stack_overflowed(const struct fib_stack *stack, uint64_t address)
{
	uint64_t low = (uint64_t)(uintptr_t)stack->low;
	uint64_t guard = stack->class == FIB_STACK_FOREIGN ? FIB_GUARD_MIN : fib_stack_guard(stack);

	return stack->low && address < low && address >= low - guard;
}
