/* SPDX-License-Identifier: MIT */
/*
 * frame.h - what a switch saves on aarch64, defined once for C, assembly and readers
 *
 * The callee-saved registers are on the fiber's own stack. The stack pointer then goes into the
 * context, with FPCR beside it. The resume address is there for readers: a walk that starts at
 * (sp, pc) needs only the CFI at pc. That has the frame pointer too, so a switch does not store it.
 */
#ifndef FIB_ARCH_FRAME_H
#define FIB_ARCH_FRAME_H

#define FIB_FRAME_SP   0
#define FIB_FRAME_FPCR 8 /* one instruction loads it with sp */
#define FIB_FRAME_PC   16
#define FIB_FRAME_FP   24 /* one instruction stores it with pc */

#define FIB_FRAME_RED_ZONE 0 /* bytes below sp that may be in use: AAPCS64 6.4.5.1 has none */

/* From sp upwards: d8-d15, then x29 and x30, then x19-x28. */
#define FIB_FRAME_D8	0
#define FIB_FRAME_X29	64
#define FIB_FRAME_X19	80
#define FIB_FRAME_SAVED 160

#ifndef __ASSEMBLER__
#include <stdint.h>

struct fib_context {
	uint64_t sp;
	uint64_t fpcr;
	uint64_t pc;
	uint64_t fp; /* not by a switch */
};

_Static_assert(sizeof(struct fib_context) == 32, "half a cache line");
_Static_assert(__builtin_offsetof(struct fib_context, fp) == FIB_FRAME_FP, "frame.h");
_Static_assert(__builtin_offsetof(struct fib_context, pc) == FIB_FRAME_PC, "frame.h");
_Static_assert(__builtin_offsetof(struct fib_context, fpcr) == FIB_FRAME_FPCR, "frame.h");
#endif

#endif
