/* SPDX-License-Identifier: MIT */
/*
 * roots.c - tell LeakSanitizer where fibers keep pointers
 *
 * LeakSanitizer runs when the program exits. It looks for pointers in globals, in stacks of
 * threads, in memory from malloc(), and in registered regions. Stacks of suspended fibers and fiber
 * records are none of the first three. Without this file a program that calls exit() while fibers
 * are suspended gets a report of leaks that do not exist.
 *
 * The regions are registered at exit, for the fibers that are live then. A free stack and a free
 * record still have the pointers of their last owner, and a block that only these refer to is a
 * leak. The handler is registered after that of LeakSanitizer, so it runs before.
 *
 * For each region LeakSanitizer reads the list of mappings of the process, which is longer the more
 * stacks there are. So there is a limit; libfiber-sanitizers(7) names it.
 */
#include "runtime/roots.h"

#include <errno.h>
#include <stdlib.h>

#include "base/atomic.h"
#include "core/registry.h"

#define MOST 2000u

/* A function of the runtimes of -fsanitize=address and -fsanitize=leak. */
extern void fib_lsan_register(const void *low, size_t size) __asm__("__lsan_register_root_region")
	__attribute__((weak));

/* The size of the unused part of a stack. The saved stack pointer of a running fiber is out of
 * date. */
static size_t unused_of(const struct fiber *fiber)
{
	uint64_t low = (uint64_t)(uintptr_t)fiber->stack.low, sp = fiber->context.sp;

	if (fib_load(&fiber->state) == FIBER_RUNNING || sp < low || sp >= low + fiber->stack.size)
		return 0;
	return sp - low;
}

unsigned fib_roots_of(const struct fiber *fiber, void (*add)(const void *low, size_t size))
{
	const char *low = fiber->stack.low;
	unsigned told = 1;
	size_t unused;

	if (!fiber->id || fib_load(&fiber->state) == FIBER_DEAD)
		return 0;
	add(fiber, sizeof *fiber);
	if (!low)
		return told;
	unused = unused_of(fiber);
	add(low + unused, fiber->stack.size - unused);
	told++;
	if (unused)
		told += fib_context_asides(&fiber->announce, (uint64_t)(uintptr_t)(low + unused),
					   (uint64_t)(uintptr_t)(low + fiber->stack.size), add);
	return told;
}

static void add_all(void)
{
	uint64_t committed = fib_registry_committed(), i;
	unsigned told = 0;

	for (i = 0; i < committed && told < MOST; i++)
		told += fib_roots_of(fib_registry_at(i), fib_lsan_register);
}

int fib_roots_watch(void)
{
	static _Atomic unsigned char watched; /* A: the thread that sets it registers */

	if (!fib_lsan_register || fib_swap(&watched, 1))
		return 0;
	return atexit(add_all) ? -ENOMEM : 0;
}
