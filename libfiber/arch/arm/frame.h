/* SPDX-License-Identifier: MIT */
/*
 * frame.h - what a switch saves on 32-bit ARM, defined once for C, assembly and readers
 *
 * The callee-saved registers are on the fiber's own stack. The stack pointer then goes into the context.
 * The resume address is there for readers: a walk that starts at (sp, pc) needs only the CFI at pc. That
 * has the frame pointer too, so a switch does not store it. Readers get fields of 8 bytes; an address is
 * in their first half. The other half is 0 before the first switch, which leaves it so.
 */
#ifndef FIB_ARCH_FRAME_H
#define FIB_ARCH_FRAME_H

#if !defined(__ARM_PCS_VFP) || __ARM_ARCH < 7 || defined(__ARMEB__)
#error "libfiber: the port for ARM needs ARMv7, hardware floating point and little-endian data; build with PORT=generic"
#endif

#define FIB_FRAME_SP	0
#define FIB_FRAME_FP	8
#define FIB_FRAME_PC	16
#define FIB_FRAME_FPSCR 24

#define FIB_FRAME_RED_ZONE 0 /* bytes below sp that may be in use: AAPCS32 6.2.1.1 has none */

/* From sp upwards: d8-d15, then r4-r11 and lr, and a word that keeps the size a multiple of 8. */
#define FIB_FRAME_D8	0
#define FIB_FRAME_R4	64
#define FIB_FRAME_SAVED 104

/* FPSCR: the bits between the sticky flags of exceptions and the condition flags. */
#define FIB_FRAME_FPSCR_LOW  8
#define FIB_FRAME_FPSCR_BITS 19

#ifndef __ASSEMBLER__
#include <stdint.h>

struct fib_context {
	uint64_t sp;
	uint64_t fp; /* not by a switch: r11, in code that is not Thumb */
	uint64_t pc;
	uint32_t fpscr;
	uint32_t unused;
};

_Static_assert(sizeof(struct fib_context) == 32, "half a cache line");
_Static_assert(__builtin_offsetof(struct fib_context, fp) == FIB_FRAME_FP, "frame.h");
_Static_assert(__builtin_offsetof(struct fib_context, pc) == FIB_FRAME_PC, "frame.h");
_Static_assert(__builtin_offsetof(struct fib_context, fpscr) == FIB_FRAME_FPSCR, "frame.h");
#endif

#endif
