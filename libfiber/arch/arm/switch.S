/* SPDX-License-Identifier: MIT */
/*
 * switch.S - switch from one stack to another on 32-bit ARM with hardware floating point
 *
 * A switch saves r4-r11, lr and d8-d15, which AAPCS32 makes the callee keep. The control bits of FPSCR
 * belong to a fiber. Reading FPSCR is cheap, but writing it may drain the pipeline, so it is written
 * only when the next context wants other control bits; the sticky flags are then those of that context.
 *
 * Fields of a context have 8 bytes. A switch stores sp into the low half: the high half is 0, and stays so.
 *
 * The code is in ARM instructions, whatever the C code uses: the linker adds what a call from Thumb
 * needs, and bx continues a caller of either kind.
 *
 * The sequence number has 8 bytes. One thread at a time increments it, by a store that is exclusive,
 * since no other store of 8 bytes is one access on all CPUs. The barrier before makes it a release.
 *
 * A saved context always resumes at fib_arch_resume, where the CFI describes the frame completely:
 * a walk needs only sp and pc. It ends in fib_arch_entry, whose CFI says that it has no caller. The same
 * is in the tables that exceptions use on ARM.
 */
#include "frame.h"

	.syntax	unified
	.arch	armv7-a
	.fpu	vfpv3-d16
	.arm
	/* Debuggers read the one, the tools either. */
	.cfi_sections .eh_frame, .debug_frame

#define SAVED_WORDS 40 /* r4-r11, lr and the unused word */

/* Push the registers that the ABI makes the callee keep. r12 is in the unused word. */
	.macro	push_saved
	push	{r4-r11, r12, lr}
	.save	{r4-r11, r12, lr}
	.cfi_adjust_cfa_offset SAVED_WORDS
	.cfi_rel_offset r4, 0
	.cfi_rel_offset r5, 4
	.cfi_rel_offset r6, 8
	.cfi_rel_offset r7, 12
	.cfi_rel_offset r8, 16
	.cfi_rel_offset r9, 20
	.cfi_rel_offset r10, 24
	.cfi_rel_offset r11, 28
	.cfi_rel_offset lr, 36
	vpush	{d8-d15}
	.vsave	{d8-d15}
	.cfi_adjust_cfa_offset FIB_FRAME_R4
	.irp	n, 8, 9, 10, 11, 12, 13, 14, 15
	.cfi_rel_offset d\n, FIB_FRAME_D8 + 8 * (\n - 8)
	.endr
	.endm

/* Store the address for readers in the context in r0. Leaves 0 in r12. */
	.macro	show_resume
	adr	r12, fib_arch_resume
	str	r12, [r0, #FIB_FRAME_PC]
	mov	r12, #0
	str	r12, [r0, #FIB_FRAME_PC + 4]
	.endm

	.text

/* void fib_arch_switch(struct fib_context *from, struct fib_context *to, _Atomic uint64_t *left) */
	.globl	fib_arch_switch
	.hidden	fib_arch_switch
	.type	fib_arch_switch, %function
	.p2align 5
fib_arch_switch:
	.fnstart
	.cfi_startproc
	push_saved
	vmrs	r3, fpscr
	ldr	r4, [r1, #FIB_FRAME_FPSCR]
	str	r3, [r0, #FIB_FRAME_FPSCR]
	eor	r3, r3, r4
	ubfx	r3, r3, #FIB_FRAME_FPSCR_LOW, #FIB_FRAME_FPSCR_BITS
	cmp	r3, #0
	vmsrne	fpscr, r4
	str	sp, [r0, #FIB_FRAME_SP]
	/*
	 * label: record.seq -- with the store the fiber is completely saved and its stack is left:
	 * after it another thread may run it. The stack pointer must change first: a signal in
	 * between would put its handler's frame where the fiber already runs.
	 */
	ldr	sp, [r1, #FIB_FRAME_SP]
	dmb	ish
.Lincrement:
	ldrexd	r4, r5, [r2]
	adds	r4, r4, #1
	adc	r5, r5, #0
	strexd	r3, r4, r5, [r2]
	cmp	r3, #0
	bne	.Lincrement

	.globl	fib_arch_resume
	.hidden	fib_arch_resume
fib_arch_resume:
	vpop	{d8-d15}
	.cfi_adjust_cfa_offset -FIB_FRAME_R4
	.irp	n, 8, 9, 10, 11, 12, 13, 14, 15
	.cfi_restore d\n
	.endr
	pop	{r4-r11, r12, lr}
	.cfi_adjust_cfa_offset -SAVED_WORDS
	.irp	reg, r4, r5, r6, r7, r8, r9, r10, r11, lr
	.cfi_restore \reg
	.endr
	bx	lr
	.cfi_endproc
	.fnend
	.size	fib_arch_switch, .-fib_arch_switch

/*
 * void fib_arch_jump(struct fib_context *to)
 *
 * The second half of a switch, for a caller that is never continued.
 */
	.globl	fib_arch_jump
	.hidden	fib_arch_jump
	.type	fib_arch_jump, %function
	.p2align 4
fib_arch_jump:
	.fnstart
	.cantunwind
	.cfi_startproc
	ldr	r1, [r0, #FIB_FRAME_FPSCR]
	vmsr	fpscr, r1
	ldr	sp, [r0, #FIB_FRAME_SP]
	b	fib_arch_resume
	.cfi_endproc
	.fnend
	.size	fib_arch_jump, .-fib_arch_jump

/*
 * void fib_arch_start(struct fib_context *context, void *top, void (*fn)(void *), void *arg)
 *
 * Start fn(arg) below top, on the stack that the caller is on and never returns to.
 */
	.globl	fib_arch_start
	.hidden	fib_arch_start
	.type	fib_arch_start, %function
	.p2align 4
fib_arch_start:
	.fnstart
	.cantunwind
	.cfi_startproc
	ldr	r12, [r0, #FIB_FRAME_FPSCR]
	vmsr	fpscr, r12
	/* For readers: the switch that leaves this context saves no pc, since it is always the
	 * same. */
	show_resume
	mov	r4, r2
	mov	r5, r3
	mov	r11, #0
	bic	r1, r1, #7
	sub	sp, r1, #8
	str	r11, [sp]
	str	r11, [sp, #4]
	b	fib_arch_entry_start
	.cfi_endproc
	.fnend
	.size	fib_arch_start, .-fib_arch_start

/*
 * void fib_arch_capture(struct fib_context *context, void (*fn)(void *), void *arg)
 *
 * Save the same frame as a switch, but continue the caller: fn runs below it on the same stack. fn
 * keeps the registers that the ABI makes it keep.
 */
	.globl	fib_arch_capture
	.hidden	fib_arch_capture
	.type	fib_arch_capture, %function
	.p2align 4
fib_arch_capture:
	.fnstart
	.cfi_startproc
	push_saved
	show_resume
	str	sp, [r0, #FIB_FRAME_SP]
	str	r12, [r0, #FIB_FRAME_SP + 4]
	str	r11, [r0, #FIB_FRAME_FP]
	str	r12, [r0, #FIB_FRAME_FP + 4]
	mov	r12, r1
	mov	r0, r2
	blx	r12
	add	sp, sp, #FIB_FRAME_SAVED - 4
	.cfi_adjust_cfa_offset -(FIB_FRAME_SAVED - 4)
	pop	{lr}
	.cfi_adjust_cfa_offset -4
	.cfi_restore lr
	bx	lr
	.cfi_endproc
	.fnend
	.size	fib_arch_capture, .-fib_arch_capture

/*
 * Entry of a new fiber: fib_arch_init() left the function in r4 and its argument in r5. The nop keeps
 * the return address inside this routine's CFI for a fiber that never ran.
 */
	.globl	fib_arch_entry
	.hidden	fib_arch_entry
	.type	fib_arch_entry, %function
	.p2align 4
fib_arch_entry:
	.fnstart
	.cantunwind
	.cfi_startproc
	.cfi_undefined lr
	nop
	.globl	fib_arch_entry_start
	.hidden	fib_arch_entry_start
fib_arch_entry_start:
	mov	r0, r5
	blx	r4
	udf	#0
	.globl	fib_arch_entry_end
	.hidden	fib_arch_entry_end
fib_arch_entry_end:
	.cfi_endproc
	.fnend
	.size	fib_arch_entry, .-fib_arch_entry

	.section .note.GNU-stack, "", %progbits
