/* SPDX-License-Identifier: MIT */
/*
 * switch.S - switch from one stack to another on s390x
 *
 * A switch saves r6-r15 and f8-f15, which the ABI makes the callee keep; f8-f15 are the left halves of
 * v8-v15, whose right halves are not kept. The access registers a0 and a1 have the thread pointer and
 * stay as they are.
 *
 * The control bits of FPC belong to a fiber. FPC is loaded only if they differ. Contexts may also share
 * FPC (FIB_WORDS_SHARE): a switch between two of them does not read it.
 *
 * The sequence number is incremented by one thread at a time. Stores become visible in order on this
 * machine, so any store is a release. One instruction adds to memory: compilers use it for a plain
 * increment too.
 *
 * A saved context always resumes at fib_arch_resume, where the CFI describes the frame completely:
 * a walk needs only sp and pc. It ends in fib_arch_entry, whose CFI says that it has no caller.
 */
#include "frame.h"

#define EACH_GENERAL .irp n, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#define EACH_FLOAT   .irp n, 8, 9, 10, 11, 12, 13, 14, 15

/* Push the registers that the ABI makes the callee keep. */
	.macro	push_saved
	stmg	%r6, %r15, FIB_FRAME_R6(%r15)
	EACH_GENERAL
	.cfi_rel_offset %r\n, FIB_FRAME_R6 + 8 * (\n - 6)
	.endr
	aghi	%r15, -FIB_FRAME_SAVED
	.cfi_adjust_cfa_offset FIB_FRAME_SAVED
	EACH_FLOAT
	std	%f\n, FIB_FRAME_F8 + 8 * (\n - 8)(%r15)
	.cfi_rel_offset %f\n, FIB_FRAME_F8 + 8 * (\n - 8)
	.endr
	.endm

/* Load the control word of the context in r2. Clobbers cc. */
	.macro	load_control label
	tm	FIB_FRAME_WORDS + 3(%r2), FIB_WORDS_SHARE
	jo	\label
	lfpc	FIB_FRAME_FPC(%r2)
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
	stg	%r15, FIB_FRAME_SP(%r2)
	tm	FIB_FRAME_WORDS + 3(%r2), FIB_WORDS_SHARE
	jo	.Lshare
	stfpc	FIB_FRAME_FPC(%r2)
	l	%r1, FIB_FRAME_FPC(%r2)
	x	%r1, FIB_FRAME_FPC(%r3)
	nilf	%r1, FIB_FRAME_FPC_CONTROL
	jne	.Lload_fpc
.Lfpc_done:
	/*
	 * label: record.seq -- with the store the fiber is completely saved and its stack is left:
	 * after it another thread may run it. The stack pointer must change first: a signal in
	 * between would put its handler's frame where the fiber already runs.
	 */
	lg	%r15, FIB_FRAME_SP(%r3)
	agsi	0(%r4), 1

	.globl	fib_arch_resume
	.hidden	fib_arch_resume
fib_arch_resume:
	.cfi_remember_state
	EACH_FLOAT
	ld	%f\n, FIB_FRAME_F8 + 8 * (\n - 8)(%r15)
	.cfi_restore %f\n
	.endr
	lmg	%r6, %r15, FIB_FRAME_SAVED + FIB_FRAME_R6(%r15)
	.cfi_def_cfa_offset FIB_FRAME_AREA
	EACH_GENERAL
	.cfi_restore %r\n
	.endr
	br	%r14

.Lshare:
	.cfi_restore_state
	tm	FIB_FRAME_WORDS + 3(%r3), FIB_WORDS_SHARE
	jo	.Lfpc_done
.Lload_fpc:
	lfpc	FIB_FRAME_FPC(%r3)
	j	.Lfpc_done
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
	lg	%r15, FIB_FRAME_SP(%r2)
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
	larl	%r1, fib_arch_resume
	stg	%r1, FIB_FRAME_PC(%r2)
	lgr	%r6, %r4
	lgr	%r7, %r5
	lghi	%r11, 0
	nill	%r3, 0xfff8
	lgr	%r15, %r3
	aghi	%r15, -FIB_FRAME_AREA
	stg	%r11, 0(%r15)
	j	fib_arch_entry_start
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
	larl	%r1, fib_arch_resume
	stg	%r1, FIB_FRAME_PC(%r2)
	stg	%r15, FIB_FRAME_SP(%r2)
	stg	%r11, FIB_FRAME_FP(%r2)
	lgr	%r2, %r4
	basr	%r14, %r3
	lg	%r14, FIB_FRAME_SAVED + FIB_FRAME_R6 + 64(%r15)
	.cfi_restore %r14
	aghi	%r15, FIB_FRAME_SAVED
	.cfi_def_cfa_offset FIB_FRAME_AREA
	br	%r14
	.cfi_endproc
	.size	fib_arch_capture, .-fib_arch_capture

/*
 * Entry of a new fiber: fib_arch_init() left the function in r6 and its argument in r7. The nop keeps
 * the return address inside this routine's CFI for a fiber that never ran.
 */
	.globl	fib_arch_entry
	.hidden	fib_arch_entry
	.type	fib_arch_entry, @function
	.p2align 4
fib_arch_entry:
	.cfi_startproc
	.cfi_undefined %r14
	nopr	%r7
	.globl	fib_arch_entry_start
	.hidden	fib_arch_entry_start
fib_arch_entry_start:
	lgr	%r2, %r7
	basr	%r14, %r6
	j	.+2		/* into the middle of itself: no instruction */
	.globl	fib_arch_entry_end
	.hidden	fib_arch_entry_end
fib_arch_entry_end:
	.cfi_endproc
	.size	fib_arch_entry, .-fib_arch_entry

	.section .note.GNU-stack, "", @progbits
