/* SPDX-License-Identifier: MIT */
/*
 * frame.h - what a switch saves on 64-bit RISC-V, defined once for C, assembly and readers
 *
 * The callee-saved registers are on the fiber's own stack. The stack pointer then goes into the
 * context. The resume address is there for readers: a walk that starts at (sp, pc) needs only the
 * CFI at pc. That has the frame pointer too, so a switch does not store it.
 */
#ifndef FIB_ARCH_FRAME_H
#define FIB_ARCH_FRAME_H

#if !defined(__riscv_float_abi_double)
#error "the port is for the calling convention lp64d"
#endif

#define FIB_FRAME_SP  0
#define FIB_FRAME_FP  8
#define FIB_FRAME_PC  16
#define FIB_FRAME_FRM 24

#define FIB_FRAME_RED_ZONE 0 /* bytes below sp that may be in use: the psABI has none */

/* From sp upwards: ra, s0-s11, fs0-fs11, and 8 unused bytes. */
#define FIB_FRAME_RA	0
#define FIB_FRAME_S0	8
#define FIB_FRAME_FS0	104
#define FIB_FRAME_SAVED 208

#ifndef __ASSEMBLER__
#include <stdint.h>

struct fib_context {
	uint64_t sp;
	uint64_t fp; /* not by a switch */
	uint64_t pc;
	uint32_t frm; /* the rounding mode */
	uint32_t unused;
};

_Static_assert(sizeof(struct fib_context) == 32, "half a cache line");
_Static_assert(__builtin_offsetof(struct fib_context, fp) == FIB_FRAME_FP, "frame.h");
_Static_assert(__builtin_offsetof(struct fib_context, pc) == FIB_FRAME_PC, "frame.h");
_Static_assert(__builtin_offsetof(struct fib_context, frm) == FIB_FRAME_FRM, "frame.h");
#endif

#endif
