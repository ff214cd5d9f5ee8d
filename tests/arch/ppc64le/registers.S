/* SPDX-License-Identifier: MIT */
/*
 * registers.S - 64-bit PowerPC: r14-r31, f14-f31, CR2-CR4 and v20-v31 across a switch
 * (tests/arch/registers.h)
 *
 * A vector has two values, and goes through memory that is aligned to 16.
 */
#include "frame.h"

	.machine "power8"
	.abiversion 2

#define FRAME 736
#define STAGE 512
#define IN    704
#define OUT   712
#define OWN_CR 720

#define VALUE_R 0
#define VALUE_F (18 * 8)
#define VALUE_C (36 * 8)
#define VALUE_V (37 * 8)

#define EACH	    .irp n, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
#define EACH_VECTOR .irp n, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31

	.macro	vectors what, at
	EACH_VECTOR
	li	%r11, \at + 16 * (\n - 20)
	\what	\n, %r11, %r1
	.endr
	.endm
	.macro	copy from, from_at, to, to_at, count
	.set	i, 0
	.rept	\count
	lfd	%f0, \from_at + i(\from)
	stfd	%f0, \to_at + i(\to)
	.set	i, i + 8
	.endr
	.endm

	.text
	.globl	arch_registers_across
	.type	arch_registers_across, @function
	.p2align 4
arch_registers_across:
	.cfi_startproc
	mflr	%r0
	std	%r0, 16(%r1)
	stdu	%r1, -FRAME(%r1)
	.cfi_def_cfa_offset FRAME
	.cfi_rel_offset lr, FRAME + 16
	mfcr	%r0
	stw	%r0, OWN_CR(%r1)
	EACH
	std	\n, FIB_FRAME_R14 + 8 * (\n - 14)(%r1)
	.cfi_rel_offset r\n, FIB_FRAME_R14 + 8 * (\n - 14)
	stfd	\n, FIB_FRAME_F14 + 8 * (\n - 14)(%r1)
	.endr
	std	%r3, IN(%r1)
	std	%r4, OUT(%r1)
	vectors	stvx, FIB_FRAME_V20
	copy	%r3, VALUE_V, %r1, STAGE, 24
	vectors	lvx, STAGE
	ld	%r0, VALUE_C(%r3)
	mtcrf	0x38, %r0
	EACH
	ld	\n, VALUE_R + 8 * (\n - 14)(%r3)
	lfd	\n, VALUE_F + 8 * (\n - 14)(%r3)
	.endr
	mr	%r3, %r5
	mr	%r4, %r6
	mr	%r5, %r7
	bl	fib_arch_switch
	mfcr	%r5
	ld	%r3, IN(%r1)
	ld	%r4, OUT(%r1)
	EACH
	std	\n, VALUE_R + 8 * (\n - 14)(%r4)
	stfd	\n, VALUE_F + 8 * (\n - 14)(%r4)
	.endr
	/* The value of CR2-CR4 among bits that are not kept. */
	ld	%r0, VALUE_C(%r3)
	rlwimi	%r0, %r5, 0, 8, 19
	stw	%r0, VALUE_C(%r4)
	lwz	%r0, VALUE_C + 4(%r3)
	stw	%r0, VALUE_C + 4(%r4)
	vectors	stvx, STAGE
	copy	%r1, STAGE, %r4, VALUE_V, 24
	vectors	lvx, FIB_FRAME_V20
	lwz	%r0, OWN_CR(%r1)
	mtcrf	0x38, %r0
	EACH
	lfd	\n, FIB_FRAME_F14 + 8 * (\n - 14)(%r1)
	ld	\n, FIB_FRAME_R14 + 8 * (\n - 14)(%r1)
	.cfi_restore r\n
	.endr
	ld	%r0, FRAME + 16(%r1)
	mtlr	%r0
	.cfi_restore lr
	addi	%r1, %r1, FRAME
	.cfi_def_cfa_offset 0
	blr
	.cfi_endproc
	.size	arch_registers_across, .-arch_registers_across

	.section .note.GNU-stack, "", @progbits
