/* SPDX-License-Identifier: MIT */
/*
 * switch.S - leaving one stack for another on x86-64
 *
 * What costs is a mispredicted return, not the registers. So the switch is a plain routine that is
 * called from one place in the whole program and left by `ret`: whatever fiber comes back returns to
 * that same place, which is what the CPU predicts, and calls and returns stay balanced above it.
 *
 * The FPU control words belong to a fiber. Loading mxcsr is slow when its value differs, and the sticky
 * exception flags make it differ all the time: only the control bits are compared, each word by
 * itself, and loaded on a difference only.
 *
 * A saved context always resumes at fib_arch_resume, where the CFI describes the frame completely: a
 * walk needs sp and pc and nothing else. It ends in fib_arch_entry, which has no caller and says so.
 */
#include "frame.h"

	.text

/* void fib_arch_switch(struct fib_context *from, struct fib_context *to) */
	.globl	fib_arch_switch
	.hidden	fib_arch_switch
	.type	fib_arch_switch, @function
	.p2align 5
fib_arch_switch:
	.cfi_startproc
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	pushq	%r12
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r12, 0
	pushq	%r13
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r13, 0
	pushq	%r14
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r14, 0
	pushq	%r15
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r15, 0

	stmxcsr	FIB_FRAME_MXCSR(%rdi)
	fnstcw	FIB_FRAME_X87CW(%rdi)
	movq	%rsp, FIB_FRAME_SP(%rdi)
	movq	%rbp, FIB_FRAME_FP(%rdi)

	movl	FIB_FRAME_MXCSR(%rdi), %eax
	movzwl	FIB_FRAME_X87CW(%rdi), %ecx
	xorl	FIB_FRAME_MXCSR(%rsi), %eax
	testl	$FIB_FRAME_MXCSR_CONTROL, %eax
	jnz	.Lload_mxcsr
.Lmxcsr_done:
	cmpw	FIB_FRAME_X87CW(%rsi), %cx
	jne	.Lload_x87cw
.Lx87cw_done:
	movq	FIB_FRAME_SP(%rsi), %rsp

	.globl	fib_arch_resume
	.hidden	fib_arch_resume
fib_arch_resume:
	popq	%r15
	.cfi_remember_state
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r15
	popq	%r14
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r14
	popq	%r13
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r13
	popq	%r12
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r12
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	popq	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbp
	ret

.Lload_mxcsr:
	.cfi_restore_state
	ldmxcsr	FIB_FRAME_MXCSR(%rsi)
	jmp	.Lmxcsr_done
.Lload_x87cw:
	fldcw	FIB_FRAME_X87CW(%rsi)
	jmp	.Lx87cw_done
	.cfi_endproc
	.size	fib_arch_switch, .-fib_arch_switch

/*
 * void fib_arch_capture(struct fib_context *context, void (*fn)(void *), void *arg)
 *
 * The same frame as above, but the caller goes on: fn runs below it on the same stack.
 */
	.globl	fib_arch_capture
	.hidden	fib_arch_capture
	.type	fib_arch_capture, @function
	.p2align 4
fib_arch_capture:
	.cfi_startproc
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	pushq	%r12
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r12, 0
	pushq	%r13
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r13, 0
	pushq	%r14
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r14, 0
	pushq	%r15
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r15, 0
	leaq	fib_arch_resume(%rip), %rax
	movq	%rax, FIB_FRAME_PC(%rdi)
	movq	%rsp, FIB_FRAME_SP(%rdi)
	movq	%rbp, FIB_FRAME_FP(%rdi)
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	movq	%rdx, %rdi
	call	*%rsi
	addq	$56, %rsp
	.cfi_adjust_cfa_offset -56
	ret
	.cfi_endproc
	.size	fib_arch_capture, .-fib_arch_capture

/*
 * Where a new fiber begins: fib_arch_init left the function in rbx and its argument in r12. The
 * nop keeps the return address inside this routine's CFI for a fiber that never ran.
 */
	.globl	fib_arch_entry
	.hidden	fib_arch_entry
	.type	fib_arch_entry, @function
	.p2align 4
fib_arch_entry:
	.cfi_startproc
	.cfi_undefined %rip
	nop
	.globl	fib_arch_entry_start
	.hidden	fib_arch_entry_start
fib_arch_entry_start:
	movq	%r12, %rdi
	call	*%rbx
	ud2
	.globl	fib_arch_entry_end
	.hidden	fib_arch_entry_end
fib_arch_entry_end:
	.cfi_endproc
	.size	fib_arch_entry, .-fib_arch_entry

	.section .note.GNU-stack, "", @progbits
