/* SPDX-License-Identifier: MIT */
/*
 * frame.h - what a switch saves on 32-bit PowerPC, defined once for C, assembly and readers
 *
 * The callee-saved registers are in a frame on the fiber's own stack. The stack pointer then goes into
 * the context. The frame pointer and the resume address are there for readers: a walk that starts at
 * (sp, pc) needs only the CFI at pc. Readers get fields of 8 bytes, so an address is in the second
 * half of a field.
 */
#ifndef FIB_ARCH_FRAME_H
#define FIB_ARCH_FRAME_H

#ifdef _SOFT_FLOAT
#error "libfiber: the port for 32-bit PowerPC needs hardware floating point; build with PORT=generic"
#endif

#define FIB_FRAME_SP	0
#define FIB_FRAME_FP	8
#define FIB_FRAME_PC	16
#define FIB_FRAME_WORDS 24
#define FIB_FRAME_FPSCR 28

#define FIB_FRAME_RED_ZONE 0 /* bytes below sp that may be in use: the System V ABI has none */

/* The frame, from sp upwards. The caller's frame above it has the return address. */
#define FIB_FRAME_CR	 8
#define FIB_FRAME_VRSAVE 12
#define FIB_FRAME_R14	 16
#define FIB_FRAME_F14	 88
#define FIB_FRAME_V20	 240
#define FIB_FRAME_SAVED	 432
#define FIB_FRAME_LR	 (FIB_FRAME_SAVED + 4)

/* FPSCR: which exceptions trap, non-IEEE mode and the rounding mode. The rest are sticky flags. */
#define FIB_FRAME_FPSCR_CONTROL 0xff

/* What a switch from a context does. */
#define FIB_WORDS_SHARE	  1 /* it shares FPSCR with the next, if that shares it too */
#define FIB_WORDS_VECTORS 2 /* the CPU has v20-v31 and VRSAVE: the same in all contexts */

#ifndef __ASSEMBLER__
#include <stdint.h>

struct fib_context {
	uint64_t sp;
	uint64_t fp;
	uint64_t pc;
	uint32_t words; /* FIB_WORDS_* */
	uint32_t fpscr;
};

_Static_assert(sizeof(struct fib_context) == 32, "half a cache line");
_Static_assert(__builtin_offsetof(struct fib_context, fp) == FIB_FRAME_FP, "frame.h");
_Static_assert(__builtin_offsetof(struct fib_context, pc) == FIB_FRAME_PC, "frame.h");
_Static_assert(__builtin_offsetof(struct fib_context, words) == FIB_FRAME_WORDS, "frame.h");
_Static_assert(__builtin_offsetof(struct fib_context, fpscr) == FIB_FRAME_FPSCR, "frame.h");
#endif

#endif
