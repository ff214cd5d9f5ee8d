/* SPDX-License-Identifier: MIT */
/*
 * checker.h - tell valgrind where stacks are
 *
 * Valgrind guesses from the distance that the stack pointer moves whether it has moved to another stack. A fiber's stack is
 * near its neighbour's, so the guess is wrong. A known stack needs no guess.
 *
 * Each call is a few instructions without effect where valgrind does not run the program. No call is on the way of a switch.
 */
#ifndef FIB_BASE_CHECKER_H
#define FIB_BASE_CHECKER_H

#include <stdbool.h>
#include <stddef.h>

#include <valgrind/memcheck.h>
#include <valgrind/valgrind.h>

/* Whether valgrind runs the program. */
static inline bool fib_checker_runs(void)
{
	return RUNNING_ON_VALGRIND != 0;
}

/* [low, low + size) is a stack from now on. Returns a number for _forget. */
static inline unsigned fib_checker_stack(void *low, size_t size)
{
	return VALGRIND_STACK_REGISTER(low, (char *)low + size - 1);
}

static inline void fib_checker_forget(unsigned stack)
{
	VALGRIND_STACK_DEREGISTER(stack);
}

/* Contents of [at, at + size) are copies of frames, gaps and all: no byte of it counts as uninitialised. */
static inline void fib_checker_defined(const void *at, size_t size)
{
	VALGRIND_MAKE_MEM_DEFINED(at, size);
}

#endif
