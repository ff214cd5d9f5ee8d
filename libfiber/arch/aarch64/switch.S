/* SPDX-License-Identifier: MIT */
/*
 * switch.S - switch from one stack to another on aarch64
 *
 * A switch saves x19-x30 and the low halves of v8-v15, which AAPCS64 makes the callee keep, and FPCR.
 * Reading FPCR is cheap, but writing it may drain the pipeline, so it is written only when the next
 * context wants another value. The sticky exception flags are in FPSR, which belongs to no context.
 *
 * A resumed fiber continues with `ret`. The CPU predicts a return from the last calls: if both sides
 * called this routine from the same place, as fibers of a runtime do, the prediction is right. There
 * is no indirect jump for other contexts: a jump must find a landing pad where branch targets are
 * checked (BTI), and the instruction after a call is none. A return needs none.
 *
 * Code that is reached by an indirect call or jump starts with `bti c`. fib_arch_switch is only
 * called by name.
 *
 * FPCR is beside sp in the context: one stp stores both, one ldp loads both.
 *
 * The sequence number is incremented by one thread at a time, so a load, an addition and a store with
 * release are enough.
 *
 * A saved context always resumes at fib_arch_resume, where the CFI describes the frame completely:
 * a walk needs only sp and pc. It ends in fib_arch_entry, whose CFI says that it has no caller.
 */
#include "frame.h"

	.arch	armv8-a

/* The size of the frame's part that holds x29, x30 and x19-x28. */
#define WHOLE (FIB_FRAME_SAVED - FIB_FRAME_X29)

	.macro	pair_cfi first, second, at
	.cfi_rel_offset \first, \at
	.cfi_rel_offset \second, \at + 8
	.endm
	.macro	push_pair first, second, at
	stp	\first, \second, [sp, #\at]
	pair_cfi \first, \second, \at
	.endm
	.macro	load_pair first, second, at
	ldp	\first, \second, [sp, #\at]
	.cfi_restore \first
	.cfi_restore \second
	.endm
/* The low halves of four vector registers: one instruction, and on most CPUs half the time of two
 * stp or ldp. */
	.macro	pop_four a, b, c, d
	ld1	{v\a\().1d, v\b\().1d, v\c\().1d, v\d\().1d}, [sp], #32
	.cfi_adjust_cfa_offset -32
	.cfi_restore d\a
	.cfi_restore d\b
	.cfi_restore d\c
	.cfi_restore d\d
	.endm

/* Push the registers that the ABI makes the callee keep, and store sp and FPCR in the context in x0.
 * Leaves FPCR in x3. Clobbers x9. */
	.macro	save
	stp	x29, x30, [sp, #-WHOLE]!
	.cfi_adjust_cfa_offset WHOLE
	pair_cfi x29, x30, 0
	push_pair x19, x20, 16
	push_pair x21, x22, 32
	push_pair x23, x24, 48
	push_pair x25, x26, 64
	push_pair x27, x28, 80
	sub	sp, sp, #FIB_FRAME_X29
	.cfi_adjust_cfa_offset FIB_FRAME_X29
	mov	x9, sp
	mrs	x3, fpcr
	stp	x9, x3, [x0, #FIB_FRAME_SP]
	st1	{v8.1d - v11.1d}, [x9], #32
	st1	{v12.1d - v15.1d}, [x9]
	pair_cfi d8, d9, 0
	pair_cfi d10, d11, 16
	pair_cfi d12, d13, 32
	pair_cfi d14, d15, 48
	.endm

	.text

/* void fib_arch_switch(struct fib_context *from, struct fib_context *to, _Atomic uint64_t *left) */
	.globl	fib_arch_switch
	.hidden	fib_arch_switch
	.type	fib_arch_switch, %function
	.p2align 5
fib_arch_switch:
	.cfi_startproc
	save
	ldp	x5, x4, [x1, #FIB_FRAME_SP]
	cmp	x3, x4
	b.ne	.Lload_fpcr
.Lfpcr_done:
	ldr	x6, [x2]
	add	x6, x6, #1
	/*
	 * label: record.seq -- with this store the fiber is completely saved and its stack is left:
	 * after it another thread may run it. The stack pointer must change first: a signal in
	 * between would put its handler's frame where the fiber already runs.
	 */
	mov	sp, x5
	stlr	x6, [x2]

	.globl	fib_arch_resume
	.hidden	fib_arch_resume
fib_arch_resume:
	.cfi_remember_state
	pop_four 8, 9, 10, 11
	pop_four 12, 13, 14, 15
	load_pair x19, x20, 16
	load_pair x21, x22, 32
	load_pair x23, x24, 48
	load_pair x25, x26, 64
	load_pair x27, x28, 80
	ldp	x29, x30, [sp], #WHOLE
	.cfi_adjust_cfa_offset -WHOLE
	.cfi_restore x29
	.cfi_restore x30
	ret

.Lload_fpcr:
	.cfi_restore_state
	msr	fpcr, x4
	b	.Lfpcr_done
	.cfi_endproc
	.size	fib_arch_switch, .-fib_arch_switch

/* Load the control word of the context in x0. Clobbers x9 and x10. */
	.macro	load_control label
	mrs	x9, fpcr
	ldr	x10, [x0, #FIB_FRAME_FPCR]
	cmp	x9, x10
	b.eq	\label
	msr	fpcr, x10
\label:
	.endm

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
	.cfi_startproc
	load_control .Ljump
	ldr	x1, [x0, #FIB_FRAME_SP]
	mov	sp, x1
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
	.type	fib_arch_start, %function
	.p2align 4
fib_arch_start:
	.cfi_startproc
	load_control .Lstart
	/* For readers: the switch that leaves this context saves no pc, since it is always the
	 * same. */
	adr	x9, fib_arch_resume
	str	x9, [x0, #FIB_FRAME_PC]
	mov	x19, x2
	mov	x20, x3
	mov	x29, xzr
	and	x1, x1, #-16
	stp	xzr, xzr, [x1, #-16]!
	mov	sp, x1
	b	fib_arch_entry_start
	.cfi_endproc
	.size	fib_arch_start, .-fib_arch_start

/*
 * void fib_arch_capture(struct fib_context *context, void (*fn)(void *), void *arg)
 *
 * Save the same frame as a switch, but continue the caller: fn runs below it on the same stack. fn
 * keeps the registers that the ABI makes it keep, so only x29 and x30 are loaded again.
 */
	.globl	fib_arch_capture
	.hidden	fib_arch_capture
	.type	fib_arch_capture, %function
	.p2align 4
fib_arch_capture:
	.cfi_startproc
	save
	adr	x9, fib_arch_resume
	stp	x9, x29, [x0, #FIB_FRAME_PC]
	mov	x9, x1
	mov	x0, x2
	blr	x9
	ldp	x29, x30, [sp, #FIB_FRAME_X29]
	add	sp, sp, #FIB_FRAME_SAVED
	.cfi_def_cfa sp, 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	fib_arch_capture, .-fib_arch_capture

/*
 * Entry of a new fiber: fib_arch_init() left the function in x19 and its argument in x20. The nop
 * keeps the return address inside this routine's CFI for a fiber that never ran.
 */
	.globl	fib_arch_entry
	.hidden	fib_arch_entry
	.type	fib_arch_entry, %function
	.p2align 4
fib_arch_entry:
	.cfi_startproc
	.cfi_undefined x30
	nop
	.globl	fib_arch_entry_start
	.hidden	fib_arch_entry_start
fib_arch_entry_start:
	bti	c
	mov	x0, x20
	blr	x19
	brk	#1
	.globl	fib_arch_entry_end
	.hidden	fib_arch_entry_end
fib_arch_entry_end:
	.cfi_endproc
	.size	fib_arch_entry, .-fib_arch_entry

/* GNU_PROPERTY_AARCH64_FEATURE_1_AND: every indirect target in this file has a landing pad (BTI). */
	.section .note.gnu.property, "a", %note
	.p2align 3
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000000, 4, 1, 0

	.section .note.GNU-stack, "", %progbits
