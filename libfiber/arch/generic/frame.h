/* SPDX-License-Identifier: MIT */
/*
 * frame.h - the generic port, on ucontext
 *
 * The registers are in a ucontext_t on the suspended stack, in a form that only the C library
 * knows. Readers learn how much of a stack is used, but cannot walk it.
 */
#ifndef FIB_ARCH_FRAME_H
#define FIB_ARCH_FRAME_H

#include <stdint.h>

struct fib_context {
	uint64_t sp; /* near the real one: the address of the saved ucontext_t */
	uint64_t fp; /* until it has arrived: address of the counter of the context it left */
	uint64_t pc; /* unused */
	void *saved; /* ucontext_t on the stack it belongs to */
};

#define FIB_FRAME_RED_ZONE 512 /* bytes below sp that may be in use: more than any ABI has */

#define FIB_FRAME_START 8192 /* room for the first frame when a used stack is reused */

_Static_assert(sizeof(void *) > 8 || sizeof(struct fib_context) <= 32, "half a cache line");

#endif
