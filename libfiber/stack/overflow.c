/* SPDX-License-Identifier: MIT */
/* overflow.c - telling a stack overflow from any other fault. */
#include "stack/overflow.h"

#include "stack/pool.h"

bool fib_stack_overflowed(const struct fib_stack *stack, uint64_t address)
{
	uint64_t low = (uint64_t)(uintptr_t)stack->low;
	uint64_t guard = stack->class == FIB_STACK_FOREIGN ? 4096 : FIB_STACK_GUARD;

	return stack->low && address < low && address >= low - guard;
}
