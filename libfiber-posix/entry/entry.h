/* SPDX-License-Identifier: MIT */
/*
 * entry.h - what each function with a name of the C library does first
 *
 * libfiber itself calls read(2) and others, on the stacks of fibers too, and means the system's. Its
 * code is in a section of its own, so such a call is recognised by its return address. Everything else
 * that a fiber runs is the program's.
 */
#ifndef FPX_ENTRY_ENTRY_H
#define FPX_ENTRY_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include <fiber/api.h>
#include <fiber/fiber.h>

#include "layout/layout.h"
#include "system/caller.h"
#include "system/link.h"
#include "threads/shared_tls.h"
#include "threads/thread.h"

/* A name of the C library, and a second name that other callers use. */
#define FPX_ENTRY	__attribute__((visibility("default")))
#define FPX_ALIAS(name) __attribute__((visibility("default"), weak, alias(#name)))

/* Where the calling function returns to. Not in an inline function: it has no frame. */
#define FPX_CALLER __builtin_return_address(0)

extern struct fib_layout fiber_registry;

/*
 * Whether the code at pc belongs to libfiber. In fibers only: then libfiber has published where its
 * code is. If it could not (it was compiled with -flto), every call counts as its own.
 */
static inline bool fpx_is_libfiber(const void *pc)
{
	const struct fib_layout_range *code = &fiber_registry.code[0];

	return (uint64_t)(uintptr_t)pc - code->low < code->high - code->low || !code->high;
}

/* Whether the caller is a fiber, and this library takes its calls. */
static inline bool fpx_is_fiber(const void *caller)
{
	return __builtin_expect(fpx_fiber() != NULL, 0) && fpx_linked && !fpx_is_libfiber(caller);
}

/* Whether a call from `caller`, which may park, goes to this library; else it is the system's. */
static inline bool fpx_enters(const void *caller)
{
	const bool enters = fpx_is_fiber(caller);

	if (enters && !fpx_own_tls)
		fpx_shared_tls_enter(caller);
	return enters;
}

/* The call is a cancellation point, also if it does not wait. */
static inline void fpx_pass_point(void)
{
	if (fpx_own_tls)
		fpx_thread_test_cancel();
}

/* fpx_enters(), of a call that is a cancellation point: a cancelled thread ends. */
static inline bool fpx_passes(const void *caller)
{
	const bool enters = fpx_enters(caller);

	if (enters)
		fpx_pass_point();
	return enters;
}

#endif
