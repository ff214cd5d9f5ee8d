/* SPDX-License-Identifier: MIT */
/*
 * suspended.c - a program with one suspended context, whose stack a debugger walks
 *
 * scripts/test-port-walk.sh stops in walk_here() and starts from the saved registers. The functions of
 * the suspended context call each other from their middle and keep a value across the call, which the
 * compiler has in a callee-saved register. A walk shows these values only if it finds every saved
 * register.
 */
#include <stdint.h>
#include <stdio.h>

#include "base/compiler.h"
#include "context/context.h"

void walk_here(uint64_t sp, uint64_t pc);

static struct fib_context home, away;
static _Atomic uint64_t home_left, away_left;
static unsigned char stack[64 << 10] __attribute__((aligned(64)));
static volatile unsigned long one = 1;

fib_noinline void walk_here(uint64_t sp, uint64_t pc)
{
	__asm__ volatile("" : : "r"(&sp), "r"(&pc) : "memory");
}

static fib_noinline unsigned long inner(void)
{
	const unsigned long inner_value = one * 333;

	fib_arch_switch(&away, &home, &away_left);
	return inner_value + one;
}

static fib_noinline unsigned long middle(void)
{
	const unsigned long middle_value = one * 222;

	return inner() + middle_value;
}

static fib_noinline void outer(void *arg)
{
	const unsigned long outer_value = one * 111;

	(void)arg;
	for (;;)
		one = middle() + outer_value > 0;
}

int main(void)
{
	fib_arch_inherit(&home);
	fib_arch_inherit(&away);
	if (fib_arch_init(&away, stack, sizeof stack, outer, NULL) < 0)
		return 1;
	/* Of a context that never ran, then of one that a switch left. */
	walk_here(away.sp, away.pc);
	fib_arch_switch(&home, &away, &home_left);
	walk_here(away.sp, away.pc);
	return 0;
}
