/* SPDX-License-Identifier: MIT */
/*
 * switch.S - switch from one stack to another on x86-64
 *
 * The cost of a switch is a mispredicted return, not the registers. Fibers wait in one place of the
 * scheduler, and a fiber that resumes there returns to the address that the CPU expects, since the
 * last call of this routine came from there: `ret` is free and keeps calls and returns balanced
 * above it. If the resumed context was left in another place than its successor, it is continued by
 * an indirect jump, which the CPU predicts from history; a `ret` would certainly be mispredicted.
 * The functions above it are mispredicted either way.
 *
 * The FPU control words belong to a fiber. On many CPUs, loading mxcsr is slow when its value
 * differs, and the sticky exception flags make it differ all the time. There only the control bits
 * are compared, and mxcsr is loaded when they differ (FIB_WORDS_COMPARE). Where loading costs no more
 * than reading back the stored value, it is always loaded (FIB_WORDS_LOAD; arch.c). The x87 word is
 * always compared. Contexts may also share the words of their thread (FIB_WORDS_SHARE): a switch
 * between two of them does not touch the words. A switch between one that shares them and one that
 * does not loads those of the next.
 *
 * A saved context always resumes at fib_arch_resume, where the CFI describes the frame completely:
 * a walk needs only sp and pc. It ends in fib_arch_entry, whose CFI says that it has no caller.
 */
#include "frame.h"

	.macro	push_one reg
	pushq	\reg
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset \reg, 0
	.endm
	.macro	pop_one reg
	popq	\reg
	.cfi_adjust_cfa_offset -8
	.cfi_restore \reg
	.endm

/* The registers that the ABI makes the callee keep, FIB_FRAME_SAVED bytes. */
	.macro	push_saved
	.irp	reg, %rbp, %rbx, %r12, %r13, %r14, %r15
	push_one \reg
	.endr
	.endm
	.macro	pop_saved
	.irp	reg, %r15, %r14, %r13, %r12, %rbx, %rbp
	pop_one \reg
	.endr
	.endm

/* Load the control words of the context in rdi, without saving any context. Clobbers rax. */
	.macro	load_control label
	cmpw	$0, FIB_FRAME_WORDS(%rdi)
	js	\label\()_mxcsr_done
	fnstcw	-8(%rsp)
	movzwl	-8(%rsp), %eax
	cmpw	FIB_FRAME_X87CW(%rdi), %ax
	je	\label\()_x87cw_done
	fldcw	FIB_FRAME_X87CW(%rdi)
\label\()_x87cw_done:
	cmpw	$FIB_WORDS_LOAD, FIB_FRAME_WORDS(%rdi)
	je	\label\()_load_mxcsr
	stmxcsr	-8(%rsp)
	movl	-8(%rsp), %eax
	xorl	FIB_FRAME_MXCSR(%rdi), %eax
	testl	$FIB_FRAME_MXCSR_CONTROL, %eax
	jz	\label\()_mxcsr_done
\label\()_load_mxcsr:
	ldmxcsr	FIB_FRAME_MXCSR(%rdi)
\label\()_mxcsr_done:
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

	cmpw	$FIB_WORDS_LOAD, FIB_FRAME_WORDS(%rdi)
	movq	FIB_FRAME_SAVED(%rsp), %r8
	jne	.Lshare_or_compare
	/* First, before the stack pointer: 0.3 ns less. */
	stmxcsr	FIB_FRAME_MXCSR(%rdi)
	fnstcw	FIB_FRAME_X87CW(%rdi)
	movq	%rsp, FIB_FRAME_SP(%rdi)
	movq	%rbp, FIB_FRAME_FP(%rdi)
.Lload_mxcsr:
	ldmxcsr	FIB_FRAME_MXCSR(%rsi)
.Lmxcsr_done:
	movzwl	FIB_FRAME_X87CW(%rdi), %ecx
	cmpw	FIB_FRAME_X87CW(%rsi), %cx
	jne	.Lload_x87cw
.Lx87cw_done:
	/*
	 * label: record.seq -- before this store the fiber is completely saved and its stack is
	 * left: after it another thread may run it. (Stores become visible in order.) The stack
	 * pointer must change first: a signal in between would put its handler's frame where the
	 * fiber already runs.
	 */
	movq	FIB_FRAME_SP(%rsi), %rsp
	incq	(%rdx)

	.globl	fib_arch_resume
	.hidden	fib_arch_resume
fib_arch_resume:
	.cfi_remember_state
	cmpq	%r8, FIB_FRAME_SAVED(%rsp)
	je	.Lhere
	pop_saved
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	.cfi_register %rip, %rcx
	jmp	*%rcx

.Lhere:
	.cfi_restore_state
	.cfi_remember_state
	pop_saved
	ret

.Lshare_or_compare:
	.cfi_restore_state
	movq	%rsp, FIB_FRAME_SP(%rdi)
	movq	%rbp, FIB_FRAME_FP(%rdi)
	js	.Lshare
	stmxcsr	FIB_FRAME_MXCSR(%rdi)
	fnstcw	FIB_FRAME_X87CW(%rdi)
	movl	FIB_FRAME_MXCSR(%rdi), %eax
	xorl	FIB_FRAME_MXCSR(%rsi), %eax
	testl	$FIB_FRAME_MXCSR_CONTROL, %eax
	jz	.Lmxcsr_done
	jmp	.Lload_mxcsr
.Lshare:
	cmpw	$0, FIB_FRAME_WORDS(%rsi)
	js	.Lx87cw_done
	ldmxcsr	FIB_FRAME_MXCSR(%rsi)
.Lload_x87cw:
	fldcw	FIB_FRAME_X87CW(%rsi)
	jmp	.Lx87cw_done
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
	xorl	%r8d, %r8d
	movq	FIB_FRAME_SP(%rdi), %rsp
	jmp	fib_arch_resume
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
	leaq	fib_arch_resume(%rip), %rax
	movq	%rax, FIB_FRAME_PC(%rdi)
	movq	%rdx, %rbx
	movq	%rcx, %r12
	xorl	%ebp, %ebp
	andq	$-16, %rsi
	leaq	-16(%rsi), %rsp
	movq	%rbp, (%rsp)
	movq	%rbp, 8(%rsp)
	jmp	fib_arch_entry_start
	.cfi_endproc
	.size	fib_arch_start, .-fib_arch_start

/*
 * void fib_arch_capture(struct fib_context *context, void (*fn)(void *), void *arg)
 *
 * Save the same frame as a switch, but continue the caller: fn runs below it on the same stack.
 */
	.globl	fib_arch_capture
	.hidden	fib_arch_capture
	.type	fib_arch_capture, @function
	.p2align 4
fib_arch_capture:
	.cfi_startproc
	push_saved
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
 * Entry of a new fiber: fib_arch_init() left the function in rbx and its argument in r12. The nop
 * keeps the return address inside this routine's CFI for a fiber that never ran.
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
