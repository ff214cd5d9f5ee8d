/* SPDX-License-Identifier: MIT */
/*
 * frame.h - what a switch saves on s390x, defined once for C, assembly and readers
 *
 * The callee-saved registers are on the fiber's own stack: f8-f15 in a frame, r6-r15 in the save area
 * that the caller's frame has for its callees. The stack pointer then goes into the context. The resume
 * address is there for readers: a walk that starts at (sp, pc) needs only the CFI at pc. That has the
 * frame pointer too, so a switch does not store it.
 */
#ifndef FIB_ARCH_FRAME_H
#define FIB_ARCH_FRAME_H

#define FIB_FRAME_SP	0
#define FIB_FRAME_FP	8
#define FIB_FRAME_PC	16
#define FIB_FRAME_FPC	24
#define FIB_FRAME_WORDS 28

#define FIB_FRAME_RED_ZONE 0 /* bytes below sp that may be in use: the ABI has none */

#define FIB_FRAME_AREA	160 /* of each frame: where its callees save registers */
#define FIB_FRAME_R6	48  /* in this area */
#define FIB_FRAME_F8	FIB_FRAME_AREA
#define FIB_FRAME_SAVED (FIB_FRAME_AREA + 8 * 8)

/* FPC: which exceptions trap, and the rounding modes. The rest are sticky flags and a code. */
#define FIB_FRAME_FPC_CONTROL 0xfc000077

/* What a switch from a context does. */
#define FIB_WORDS_SHARE 1 /* it shares FPC with the next, if that shares it too */

#ifndef __ASSEMBLER__
#include <stdint.h>

struct fib_context {
	uint64_t sp;
	uint64_t fp; /* not by a switch */
	uint64_t pc;
	uint32_t fpc;
	uint32_t words; /* FIB_WORDS_* */
};

_Static_assert(sizeof(struct fib_context) == 32, "half a cache line");
_Static_assert(__builtin_offsetof(struct fib_context, fp) == FIB_FRAME_FP, "frame.h");
_Static_assert(__builtin_offsetof(struct fib_context, pc) == FIB_FRAME_PC, "frame.h");
_Static_assert(__builtin_offsetof(struct fib_context, fpc) == FIB_FRAME_FPC, "frame.h");
_Static_assert(__builtin_offsetof(struct fib_context, words) == FIB_FRAME_WORDS, "frame.h");
#endif

#endif
