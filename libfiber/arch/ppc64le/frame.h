/* SPDX-License-Identifier: MIT */
/*
 * frame.h - what a switch saves on 64-bit PowerPC, defined once for C, assembly and readers
 *
 * The callee-saved registers are in a frame on the fiber's own stack. The stack pointer then goes into
 * the context. The resume address is there for readers: a walk that starts at (sp, pc) needs only the
 * CFI at pc. That has the frame pointer too, so a switch does not store it.
 */
#ifndef FIB_ARCH_FRAME_H
#define FIB_ARCH_FRAME_H

#define FIB_FRAME_SP	0
#define FIB_FRAME_FP	8
#define FIB_FRAME_PC	16
#define FIB_FRAME_FPSCR 24
#define FIB_FRAME_WORDS 28

#define FIB_FRAME_RED_ZONE 512 /* bytes below sp that may be in use in ELFv2 */

/* The frame, from sp upwards. The caller's frame above it has the return address. */
#define FIB_FRAME_HEAD	32 /* of each frame: what its callees store */
#define FIB_FRAME_CR	8
#define FIB_FRAME_TOC	24
#define FIB_FRAME_R14	FIB_FRAME_HEAD
#define FIB_FRAME_F14	176
#define FIB_FRAME_V20	320
#define FIB_FRAME_SAVED 512
#define FIB_FRAME_LR	(FIB_FRAME_SAVED + 16)

/* FPSCR: which exceptions trap, non-IEEE mode and the rounding mode. The rest are sticky flags. */
#define FIB_FRAME_FPSCR_CONTROL 0xff

/* What a switch from a context does. */
#define FIB_WORDS_SHARE 1 /* it shares FPSCR with the next, if that shares it too */

#ifndef __ASSEMBLER__
#include <stdint.h>

struct fib_context {
	uint64_t sp;
	uint64_t fp; /* not by a switch */
	uint64_t pc;
	uint32_t fpscr;
	uint32_t words; /* FIB_WORDS_* */
};

_Static_assert(sizeof(struct fib_context) == 32, "half a cache line");
_Static_assert(__builtin_offsetof(struct fib_context, fp) == FIB_FRAME_FP, "frame.h");
_Static_assert(__builtin_offsetof(struct fib_context, pc) == FIB_FRAME_PC, "frame.h");
_Static_assert(__builtin_offsetof(struct fib_context, words) == FIB_FRAME_WORDS, "frame.h");
_Static_assert(__builtin_offsetof(struct fib_context, fpscr) == FIB_FRAME_FPSCR, "frame.h");
#endif

#endif
