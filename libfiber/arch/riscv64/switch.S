/* SPDX-License-Identifier: MIT */
/*
 * switch.S - switch from one stack to another on 64-bit RISC-V
 *
 * A switch saves ra, s0-s11 and fs0-fs11, which the psABI makes the callee keep, and the rounding mode
 * frm. Writing a floating-point CSR may drain the pipeline, so frm is written only when the next
 * context wants another value. The sticky exception flags belong to no context.
 *
 * A resumed fiber continues with `ret`. The CPU predicts a return from the last calls: if both sides
 * called this routine from the same place, as fibers of a runtime do, the prediction is right.
 *
 * The sequence number is incremented by one thread at a time, so a load, an addition, a fence and a
 * store are enough.
 *
 * A saved context always resumes at fib_arch_resume, where the CFI describes the frame completely:
 * a walk needs only sp and pc. It ends in fib_arch_entry, whose CFI says that it has no caller.
 */
#include "frame.h"

	.macro	push_one store, reg, at
	\store	\reg, \at(sp)
	.cfi_rel_offset \reg, \at
	.endm
	.macro	pop_one load, reg, at
	\load	\reg, \at(sp)
	.cfi_restore \reg
	.endm

/* Do the same with each register that the ABI makes the callee keep. */
	.macro	each_saved what, integer, float
	\what	\integer, ra, FIB_FRAME_RA
	\what	\integer, s0, FIB_FRAME_S0
	\what	\integer, s1, FIB_FRAME_S0 + 8
	\what	\integer, s2, FIB_FRAME_S0 + 16
	\what	\integer, s3, FIB_FRAME_S0 + 24
	\what	\integer, s4, FIB_FRAME_S0 + 32
	\what	\integer, s5, FIB_FRAME_S0 + 40
	\what	\integer, s6, FIB_FRAME_S0 + 48
	\what	\integer, s7, FIB_FRAME_S0 + 56
	\what	\integer, s8, FIB_FRAME_S0 + 64
	\what	\integer, s9, FIB_FRAME_S0 + 72
	\what	\integer, s10, FIB_FRAME_S0 + 80
	\what	\integer, s11, FIB_FRAME_S0 + 88
	\what	\float, fs0, FIB_FRAME_FS0
	\what	\float, fs1, FIB_FRAME_FS0 + 8
	\what	\float, fs2, FIB_FRAME_FS0 + 16
	\what	\float, fs3, FIB_FRAME_FS0 + 24
	\what	\float, fs4, FIB_FRAME_FS0 + 32
	\what	\float, fs5, FIB_FRAME_FS0 + 40
	\what	\float, fs6, FIB_FRAME_FS0 + 48
	\what	\float, fs7, FIB_FRAME_FS0 + 56
	\what	\float, fs8, FIB_FRAME_FS0 + 64
	\what	\float, fs9, FIB_FRAME_FS0 + 72
	\what	\float, fs10, FIB_FRAME_FS0 + 80
	\what	\float, fs11, FIB_FRAME_FS0 + 88
	.endm

/* Push these registers, and store sp in the context in a0. */
	.macro	save
	addi	sp, sp, -FIB_FRAME_SAVED
	.cfi_adjust_cfa_offset FIB_FRAME_SAVED
	each_saved push_one, sd, fsd
	sd	sp, FIB_FRAME_SP(a0)
	.endm

	.text

/* void fib_arch_switch(struct fib_context *from, struct fib_context *to, _Atomic uint64_t *left) */
	.globl	fib_arch_switch
	.hidden	fib_arch_switch
	.type	fib_arch_switch, @function
	.p2align 5
fib_arch_switch:
	.cfi_startproc
	save
	frrm	a3
	lw	a4, FIB_FRAME_FRM(a1)
	sw	a3, FIB_FRAME_FRM(a0)
	ld	a5, 0(a2)
	bne	a3, a4, .Lload_frm
.Lfrm_done:
	/*
	 * label: record.seq -- with this store the fiber is completely saved and its stack is left:
	 * after it another thread may run it. The stack pointer must change first: a signal in
	 * between would put its handler's frame where the fiber already runs.
	 */
	ld	sp, FIB_FRAME_SP(a1)
	addi	a5, a5, 1
	fence	rw, w
	sd	a5, 0(a2)

	.globl	fib_arch_resume
	.hidden	fib_arch_resume
fib_arch_resume:
	.cfi_remember_state
	each_saved pop_one, ld, fld
	addi	sp, sp, FIB_FRAME_SAVED
	.cfi_adjust_cfa_offset -FIB_FRAME_SAVED
	ret

.Lload_frm:
	.cfi_restore_state
	fsrm	a4
	j	.Lfrm_done
	.cfi_endproc
	.size	fib_arch_switch, .-fib_arch_switch

/* Load the control word of the context in a0. Clobbers t0 and t1. */
	.macro	load_control label
	frrm	t0
	lw	t1, FIB_FRAME_FRM(a0)
	beq	t0, t1, \label
	fsrm	t1
\label:
	.endm

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
	ld	sp, FIB_FRAME_SP(a0)
	j	fib_arch_resume
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
	lla	t0, fib_arch_resume
	sd	t0, FIB_FRAME_PC(a0)
	mv	s1, a2
	mv	s2, a3
	li	s0, 0
	andi	a1, a1, -16
	addi	sp, a1, -16
	sd	zero, 0(sp)
	sd	zero, 8(sp)
	j	fib_arch_entry_start
	.cfi_endproc
	.size	fib_arch_start, .-fib_arch_start

/*
 * void fib_arch_capture(struct fib_context *context, void (*fn)(void *), void *arg)
 *
 * Save the same frame as a switch, but continue the caller: fn runs below it on the same stack. fn
 * keeps the registers that the ABI makes it keep, so only ra is loaded again.
 */
	.globl	fib_arch_capture
	.hidden	fib_arch_capture
	.type	fib_arch_capture, @function
	.p2align 4
fib_arch_capture:
	.cfi_startproc
	save
	sd	s0, FIB_FRAME_FP(a0)
	lla	t0, fib_arch_resume
	sd	t0, FIB_FRAME_PC(a0)
	mv	t0, a1
	mv	a0, a2
	jalr	t0
	ld	ra, FIB_FRAME_RA(sp)
	.cfi_restore ra
	addi	sp, sp, FIB_FRAME_SAVED
	.cfi_adjust_cfa_offset -FIB_FRAME_SAVED
	ret
	.cfi_endproc
	.size	fib_arch_capture, .-fib_arch_capture

/*
 * Entry of a new fiber: fib_arch_init() left the function in s1 and its argument in s2. The nop
 * keeps the return address inside this routine's CFI for a fiber that never ran.
 */
	.globl	fib_arch_entry
	.hidden	fib_arch_entry
	.type	fib_arch_entry, @function
	.p2align 4
fib_arch_entry:
	.cfi_startproc
	.cfi_undefined ra
	nop
	.globl	fib_arch_entry_start
	.hidden	fib_arch_entry_start
fib_arch_entry_start:
	mv	a0, s2
	jalr	s1
	ebreak
	.globl	fib_arch_entry_end
	.hidden	fib_arch_entry_end
fib_arch_entry_end:
	.cfi_endproc
	.size	fib_arch_entry, .-fib_arch_entry

	.section .note.GNU-stack, "", @progbits
