/* SPDX-License-Identifier: MIT */
/*
 * switch.S - switch from one stack to another on 64-bit PowerPC, little-endian, ELFv2 ABI
 *
 * A switch saves r14-r31, f14-f31, v20-v31, CR2-CR4 and r2, the address of the caller's table of
 * contents. r13 is the thread pointer and is not touched. The ABI does not use VRSAVE.
 *
 * The control bits of FPSCR belong to a fiber; the sticky flags stay with the thread. FPSCR is loaded
 * only if the control bits differ. Contexts may also share FPSCR (FIB_WORDS_SHARE): a switch between two
 * of them does not read it, which would wait for all earlier floating-point instructions.
 *
 * The CPU predicts `blr` from the last calls. A context that was left at the same place as its successor
 * is continued by blr, another one by bctr, so that calls and returns stay balanced.
 *
 * The sequence number is incremented by one thread at a time, so a fence before a plain store makes it a
 * release.
 *
 * A saved context always resumes at fib_arch_resume, where the CFI describes the frame completely:
 * a walk needs only sp and pc. It ends in fib_arch_entry, whose CFI says that it has no caller.
 */
#include "frame.h"

	.machine "power8"
	.abiversion 2

#define CR_COLUMN 70 /* of DWARF */

#define CONTROL_FIELDS 3 /* of mtfsf: the last two of eight */

/* Repeat lines for each number of a callee-saved register that is no vector. */
#define EACH .irp n, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31

/* Vector registers are stored and loaded at the sum of two registers: four offsets and three bases make
 * the places of twelve. Clobbers r6-r11. */
	.macro	each_vector what
	li	%r6, FIB_FRAME_V20
	li	%r7, FIB_FRAME_V20 + 16
	li	%r8, FIB_FRAME_V20 + 32
	li	%r9, FIB_FRAME_V20 + 48
	addi	%r10, %r1, 64
	addi	%r11, %r1, 128
	\what	20, %r1, %r6
	\what	21, %r1, %r7
	\what	22, %r1, %r8
	\what	23, %r1, %r9
	\what	24, %r10, %r6
	\what	25, %r10, %r7
	\what	26, %r10, %r8
	\what	27, %r10, %r9
	\what	28, %r11, %r6
	\what	29, %r11, %r7
	\what	30, %r11, %r8
	\what	31, %r11, %r9
	.endm
	.macro	push_vector n, base, offset
	stvx	\n, \base, \offset
	.cfi_rel_offset v\n, FIB_FRAME_V20 + 16 * (\n - 20)
	.endm
	.macro	load_vector n, base, offset
	lvx	\n, \base, \offset
	.cfi_restore v\n
	.endm

/* Push the registers that the ABI makes the callee keep. Leaves the return address in r12. Clobbers
 * r6-r11. */
	.macro	push_saved
	mflr	%r12
	mfcr	%r11
	std	%r12, FIB_FRAME_LR - FIB_FRAME_SAVED(%r1)
	stdu	%r1, -FIB_FRAME_SAVED(%r1)
	.cfi_def_cfa_offset FIB_FRAME_SAVED
	.cfi_rel_offset lr, FIB_FRAME_LR
	stw	%r11, FIB_FRAME_CR(%r1)
	.cfi_rel_offset CR_COLUMN, FIB_FRAME_CR
	std	%r2, FIB_FRAME_TOC(%r1)
	.cfi_rel_offset r2, FIB_FRAME_TOC
	EACH
	std	\n, FIB_FRAME_R14 + 8 * (\n - 14)(%r1)
	.cfi_rel_offset r\n, FIB_FRAME_R14 + 8 * (\n - 14)
	stfd	\n, FIB_FRAME_F14 + 8 * (\n - 14)(%r1)
	.cfi_rel_offset f\n, FIB_FRAME_F14 + 8 * (\n - 14)
	.endr
	each_vector push_vector
	.endm

/* Clobbers r11 and lr. */
	.macro	show_resume
	bcl	20, 31, 1f
1:	mflr	%r11
	addi	%r11, %r11, fib_arch_resume - 1b
	std	%r11, FIB_FRAME_PC(%r3)
	.endm

/* Load the control bits of the context in r3. Clobbers f0, r11 and cr0. */
	.macro	load_control label
	lwz	%r11, FIB_FRAME_WORDS(%r3)
	andi.	%r11, %r11, FIB_WORDS_SHARE
	bne	\label
	lfd	%f0, FIB_FRAME_FPSCR(%r3)
	mtfsf	CONTROL_FIELDS, %f0
\label:
	.endm

	.text

/* void fib_arch_switch(struct fib_context *from, struct fib_context *to, _Atomic uint64_t *left) */
	.globl	fib_arch_switch
	.hidden	fib_arch_switch
	.type	fib_arch_switch, @function
	.p2align 5
fib_arch_switch:
	.cfi_startproc
	push_saved
	lwz	%r10, FIB_FRAME_WORDS(%r3)
	lwz	%r8, FIB_FRAME_WORDS(%r4)
	and	%r9, %r8, %r10
	andi.	%r9, %r9, FIB_WORDS_SHARE
	bne	.Lfpscr_done
	andi.	%r9, %r10, FIB_WORDS_SHARE
	bne	.Lload_fpscr
	mffs	%f0
	addi	%r9, %r3, FIB_FRAME_FPSCR
	stfiwx	%f0, 0, %r9
	lwz	%r8, FIB_FRAME_FPSCR(%r3)
	lwz	%r9, FIB_FRAME_FPSCR(%r4)
	xor	%r9, %r9, %r8
	andi.	%r9, %r9, FIB_FRAME_FPSCR_CONTROL
	beq	.Lfpscr_done
.Lload_fpscr:
	/* words are the high half, which mtfsf ignores. */
	lfd	%f0, FIB_FRAME_FPSCR(%r4)
	mtfsf	CONTROL_FIELDS, %f0
.Lfpscr_done:
	std	%r1, FIB_FRAME_SP(%r3)
	/*
	 * label: record.seq -- with the store the fiber is completely saved and its stack is left:
	 * after it another thread may run it. The stack pointer must change first: a signal in
	 * between would put its handler's frame where the fiber already runs.
	 */
	ld	%r1, FIB_FRAME_SP(%r4)
	ld	%r9, 0(%r5)
	addi	%r9, %r9, 1
	lwsync
	std	%r9, 0(%r5)

	.globl	fib_arch_resume
	.hidden	fib_arch_resume
fib_arch_resume:
	ld	%r0, FIB_FRAME_LR(%r1)
	lwz	%r11, FIB_FRAME_CR(%r1)
	mtcrf	32, %r11
	mtcrf	16, %r11
	mtcrf	8, %r11
	.cfi_restore CR_COLUMN
	each_vector load_vector
	EACH
	ld	\n, FIB_FRAME_R14 + 8 * (\n - 14)(%r1)
	.cfi_restore r\n
	lfd	\n, FIB_FRAME_F14 + 8 * (\n - 14)(%r1)
	.cfi_restore f\n
	.endr
	ld	%r2, FIB_FRAME_TOC(%r1)
	.cfi_restore r2
	mtlr	%r0
	.cfi_restore lr
	addi	%r1, %r1, FIB_FRAME_SAVED
	.cfi_def_cfa_offset 0
	cmpld	%r0, %r12
	bne	.Lelsewhere
	blr
.Lelsewhere:
	mtctr	%r0
	bctr
	.cfi_endproc
	.size	fib_arch_switch, .-fib_arch_switch

/*
 * void fib_arch_jump(struct fib_context *to)
 *
 * The second half of a switch, for a caller that is never continued.
 */
	.globl	fib_arch_jump
	.hidden	fib_arch_jump
	.type	fib_arch_jump, @function
	.p2align 4
fib_arch_jump:
	.cfi_startproc
	load_control .Ljump
	li	%r12, 0
	ld	%r1, FIB_FRAME_SP(%r3)
	b	fib_arch_resume
	.cfi_endproc
	.size	fib_arch_jump, .-fib_arch_jump

/*
 * void fib_arch_start(struct fib_context *context, void *top, void (*fn)(void *), void *arg)
 *
 * Start fn(arg) below top, on the stack that the caller is on and never returns to.
 */
	.globl	fib_arch_start
	.hidden	fib_arch_start
	.type	fib_arch_start, @function
	.p2align 4
fib_arch_start:
	.cfi_startproc
	load_control .Lstart
	/* For readers: the switch that leaves this context saves no pc, since it is always the
	 * same. */
	show_resume
	mr	%r14, %r5
	mr	%r15, %r6
	li	%r31, 0
	clrrdi	%r4, %r4, 4
	addi	%r1, %r4, -FIB_FRAME_HEAD
	std	%r31, 0(%r1)
	b	fib_arch_entry_start
	.cfi_endproc
	.size	fib_arch_start, .-fib_arch_start

/*
 * void fib_arch_capture(struct fib_context *context, void (*fn)(void *), void *arg)
 *
 * Save the same frame as a switch, but continue the caller: fn runs below it on the same stack. fn
 * keeps the registers that the ABI makes it keep.
 */
	.globl	fib_arch_capture
	.hidden	fib_arch_capture
	.type	fib_arch_capture, @function
	.p2align 4
fib_arch_capture:
	.cfi_startproc
	push_saved
	std	%r1, FIB_FRAME_SP(%r3)
	std	%r31, FIB_FRAME_FP(%r3)
	show_resume
	mr	%r3, %r5
	mr	%r12, %r4		/* a function computes its table of contents from its address in r12 */
	mtctr	%r12
	bctrl
	ld	%r2, FIB_FRAME_TOC(%r1)
	.cfi_restore r2
	ld	%r0, FIB_FRAME_LR(%r1)
	mtlr	%r0
	.cfi_restore lr
	addi	%r1, %r1, FIB_FRAME_SAVED
	.cfi_def_cfa_offset 0
	blr
	.cfi_endproc
	.size	fib_arch_capture, .-fib_arch_capture

/*
 * Entry of a new fiber: fib_arch_init() left the function in r14 and its argument in r15. The nop
 * keeps the return address inside this routine's CFI for a fiber that never ran.
 */
	.globl	fib_arch_entry
	.hidden	fib_arch_entry
	.type	fib_arch_entry, @function
	.p2align 4
fib_arch_entry:
	.cfi_startproc
	.cfi_undefined lr
	nop
	.globl	fib_arch_entry_start
	.hidden	fib_arch_entry_start
fib_arch_entry_start:
	mr	%r3, %r15
	mr	%r12, %r14
	mtctr	%r12
	bctrl
	trap
	.globl	fib_arch_entry_end
	.hidden	fib_arch_entry_end
fib_arch_entry_end:
	.cfi_endproc
	.size	fib_arch_entry, .-fib_arch_entry

	.section .note.GNU-stack, "", @progbits
