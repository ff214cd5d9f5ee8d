/* SPDX-License-Identifier: MIT */
/*
 * longrun_place.c - where in the program's own code a long run was seen
 *
 * The program does not unwind its stacks: that is what the tools do. Two things need no unwinding.
 * The address of a fiber that computes is mostly in the program itself. A fiber in the C library,
 * for example in a system call, was called from there: the address to return to is near its stack
 * pointer. Not every such address in a stack is one of a live call, so this place is "probable".
 *
 * A program that is linked statically has the C library in its own file: the place may be in it.
 */
#include "watch/longrun_place.h"

#include <string.h>

#include "core/registry.h"

#define WORDS 256u /* how much of the stack is searched, from the stack pointer up */

static bool is_library(uint64_t address)
{
	const struct fib_layout_range *code = &fiber_registry.code[0];

	return (address >= code->low && address < code->high) ||
	       (address >= fiber_registry.entry_low && address < fiber_registry.entry_high);
}

static bool is_program(struct fib_os_pipe *pipe, uint64_t address, struct fib_os_place *ret)
{
	return !is_library(address) && fib_os_place_find(pipe, address, ret) && !ret->system &&
	       strncmp(ret->module, "libfiber", strlen("libfiber")) != 0;
}

/* Whether a call may return to the address. */
static bool is_returned_to(struct fib_os_pipe *pipe, uint64_t address)
{
	unsigned char before[FIB_ARCH_CALL];

	return fib_os_peek_through(pipe, address - sizeof before, before, sizeof before) == 0 &&
	       fib_arch_after_call(before);
}

enum fib_longrun_sure fib_longrun_place(const struct fib_longrun_event *e, struct fib_os_pipe *pipe,
					struct fib_os_place *ret, uint64_t *ret_function)
{
	const uint32_t words = e->stack_size / sizeof(uintptr_t);
	uintptr_t word;
	uint32_t i;

	*ret_function = 0;
	if (!e->context.pc)
		return FIB_LONGRUN_UNKNOWN;
	if (is_program(pipe, e->context.pc, ret)) {
		*ret_function = fib_os_place_function(pipe, ret, e->context.pc);
		return FIB_LONGRUN_EXACT;
	}
	for (i = 0; i < words && i < WORDS; i++) {
		memcpy(&word, e->stack + i * sizeof word, sizeof word);
		/* The call may be the last instruction of its function. */
		if (word && is_program(pipe, word - 1, ret) && is_returned_to(pipe, word)) {
			*ret_function = fib_os_place_function(pipe, ret, word - 1);
			return FIB_LONGRUN_PROBABLE;
		}
	}
	return FIB_LONGRUN_UNKNOWN;
}
