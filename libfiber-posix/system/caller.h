/* SPDX-License-Identifier: MIT */
/*
 * caller.h - the fiber that calls, if it is one
 *
 * A plain thread pays for each call by name. So it finds that it is one without a call of libfiber: a
 * thread-local of libfiber, which only carriers have set, is read at its distance from the thread
 * pointer. The read is volatile, since the fiber may have changed its thread.
 */
#ifndef FPX_SYSTEM_CALLER_H
#define FPX_SYSTEM_CALLER_H

#include <stddef.h>

#include <fiber/fiber.h>

#include "thread_pointer.h"

/* I. 0 until it is known: the thread pointer points to itself, which is not NULL. */
extern ptrdiff_t fpx_carrier_word;

/* fiber_self() */
static inline struct fiber *fpx_fiber(void)
{
	const char *const tp = fib_arch_tp();

	if (tp && !*(void *const volatile *)(const void *)(tp + fpx_carrier_word))
		return NULL;
	return fiber_self();
}

#endif
