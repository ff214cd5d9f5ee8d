/* SPDX-License-Identifier: MIT */
/*
 * checker.h - tell valgrind where stacks are
 *
 * Valgrind guesses from the distance that the stack pointer moves whether it has moved to another
 * stack. Two fibers' stacks are close to each other, so the guess is wrong. A registered stack
 * needs no guess.
 *
 * Each call is a few instructions without effect unless valgrind runs the program. A switch makes
 * no call.
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

/* Register [low, low + size) as a stack. Returns a number for fib_checker_forget(). */
static inline unsigned fib_checker_stack(void *low, size_t size)
{
	return VALGRIND_STACK_REGISTER(low, (char *)low + size - 1);
}

static inline void fib_checker_forget(unsigned stack)
{
	VALGRIND_STACK_DEREGISTER(stack);
}

/* [at, at + size) holds copies of frames including their gaps: treat all bytes as initialised. */
static inline void fib_checker_defined(const void *at, size_t size)
{
	VALGRIND_MAKE_MEM_DEFINED(at, size);
}

#endif
