/* SPDX-License-Identifier: MIT */
/*
 * frame.h - what a switch saves on i386, defined once for C, assembly and readers
 *
 * The four callee-saved registers are pushed on the fiber's own stack below the return address. The
 * stack pointer then goes into the context. The frame pointer and the resume address are there for
 * readers: a walk that starts at (sp, pc) needs only the CFI at pc. Readers get fields of 8 bytes; an
 * address is in their first half.
 */
#ifndef FIB_ARCH_FRAME_H
#define FIB_ARCH_FRAME_H

#define FIB_FRAME_SP	0
#define FIB_FRAME_FP	8
#define FIB_FRAME_PC	16
#define FIB_FRAME_MXCSR 24
#define FIB_FRAME_X87CW 28
#define FIB_FRAME_WORDS 30

#define FIB_FRAME_RED_ZONE 0 /* bytes below sp that may be in use: the System V ABI has none */

#define FIB_FRAME_SAVED 16 /* bytes of registers between sp and the return address */

/* Above the sticky exception flags in mxcsr; only these bits are compared. */
#define FIB_FRAME_MXCSR_CONTROL 0xffffffc0

/* What a switch from a context does. */
#define FIB_WORDS_SHARE \
	1		/* it shares the FPU control words with the next, if that shares them too */
#define FIB_WORDS_SSE 2 /* the CPU has mxcsr: the same in all contexts */

#ifndef __ASSEMBLER__
#include <stdint.h>

struct fib_context {
	uint64_t sp;
	uint64_t fp;
	uint64_t pc;
	uint32_t mxcsr;
	uint16_t x87cw;
	uint16_t words; /* FIB_WORDS_* */
};

_Static_assert(sizeof(struct fib_context) == 32, "half a cache line");
_Static_assert(__builtin_offsetof(struct fib_context, fp) == FIB_FRAME_FP, "frame.h");
_Static_assert(__builtin_offsetof(struct fib_context, pc) == FIB_FRAME_PC, "frame.h");
_Static_assert(__builtin_offsetof(struct fib_context, mxcsr) == FIB_FRAME_MXCSR, "frame.h");
_Static_assert(__builtin_offsetof(struct fib_context, x87cw) == FIB_FRAME_X87CW, "frame.h");
_Static_assert(__builtin_offsetof(struct fib_context, words) == FIB_FRAME_WORDS, "frame.h");
#endif

#endif
