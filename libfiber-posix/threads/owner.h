/* SPDX-License-Identifier: MIT */
/* owner.h - who calls: the fiber, or the plain thread */
#ifndef FPX_THREADS_OWNER_H
#define FPX_THREADS_OWNER_H

#include <stdint.h>

#include <fiber/fiber.h>

#include "layout/layout.h"
#include "system/caller.h"

/*
 * `short_id` is what a mutex of the C library has room for: a thread's number, or a fiber's mark, which
 * is no thread's number. `id` is exact, and is what the tools read.
 */
struct fpx_owner {
	int short_id;
	uint64_t id; /* of a fiber, or FIB_HOLDER_THREAD | the thread's number */
};

#define FPX_FIBER_MARK 0x40000000u /* threads have smaller numbers (PID_MAX_LIMIT is 2^22) */

/* The number that the C library has for the calling thread. */
int fpx_thread_number(void);

extern struct fib_layout fiber_registry;

/* fiber_id(), without a call. */
static inline uint64_t fpx_fiber_id(const struct fiber *fiber)
{
	return *(const uint64_t *)((const char *)fiber +
				   fiber_registry.fields[FIB_FIELD_ID].offset);
}

static inline struct fpx_owner fpx_owner_self(void)
{
	struct fiber *const fiber = fpx_fiber();
	struct fpx_owner owner;

	if (fiber) {
		owner.id = fpx_fiber_id(fiber);
		owner.short_id = (int)(FPX_FIBER_MARK | (owner.id & (FPX_FIBER_MARK - 1)));
	} else {
		owner.short_id = fpx_thread_number();
		owner.id = FIB_HOLDER_THREAD | (uint64_t)owner.short_id;
	}
	return owner;
}

#endif
