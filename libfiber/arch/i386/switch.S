/* SPDX-License-Identifier: MIT */
/*
 * switch.S - switch from one stack to another on i386
 *
 * A switch saves ebx, esi, edi and ebp. The FPU control words belong to a fiber: that of the x87, and
 * the control bits of mxcsr if the CPU has SSE, which the context says. A word is loaded only if it
 * differs. Contexts may also share the words (FIB_WORDS_SHARE): a switch between two of them does not
 * touch them.
 *
 * A context that was left at the same place as its successor is continued by `ret`, which the CPU
 * predicts from the last call. Another one is continued by an indirect jump, so that calls and returns
 * stay balanced.
 *
 * The sequence number has 8 bytes, and only one thread increments it at a time. Its low half is stored
 * alone, which leaves a number that is correct at every moment; when the low half overflows, both are
 * stored by one instruction. On this machine a store becomes visible after all earlier ones.
 *
 * A saved context always resumes at fib_arch_resume, where the CFI describes the frame completely:
 * a walk needs only sp and pc. It ends in fib_arch_entry, whose CFI says that it has no caller.
 */
#include "frame.h"

	.macro	push_one reg
	pushl	\reg
	.cfi_adjust_cfa_offset 4
	.cfi_rel_offset \reg, 0
	.endm
	.macro	pop_one reg
	popl	\reg
	.cfi_adjust_cfa_offset -4
	.cfi_restore \reg
	.endm

/* The registers that the ABI makes the callee keep, FIB_FRAME_SAVED bytes. */
	.macro	push_saved
	.irp	reg, %ebp, %ebx, %esi, %edi
	push_one \reg
	.endr
	.endm
	.macro	pop_saved
	.irp	reg, %edi, %esi, %ebx, %ebp
	pop_one \reg
	.endr
	.endm

/* Give readers what they need of the context in eax. */
	.macro	show_context
	movl	%esp, FIB_FRAME_SP(%eax)
	movl	$0, FIB_FRAME_SP + 4(%eax)
	movl	%ebp, FIB_FRAME_FP(%eax)
	movl	$0, FIB_FRAME_FP + 4(%eax)
	.endm
/* Clobbers ecx. */
	.macro	show_resume
	call	1f
	.cfi_adjust_cfa_offset 4
1:	popl	%ecx
	.cfi_adjust_cfa_offset -4
	leal	fib_arch_resume - 1b(%ecx), %ecx
	movl	%ecx, FIB_FRAME_PC(%eax)
	movl	$0, FIB_FRAME_PC + 4(%eax)
	.endm

/* Load the control words of the context in eax, without saving any context. */
	.macro	load_control label
	testb	$FIB_WORDS_SHARE, FIB_FRAME_WORDS(%eax)
	jnz	\label
	fldcw	FIB_FRAME_X87CW(%eax)
	testb	$FIB_WORDS_SSE, FIB_FRAME_WORDS(%eax)
	jz	\label
	ldmxcsr	FIB_FRAME_MXCSR(%eax)
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
	movl	4(%esp), %eax
	movl	8(%esp), %ecx
	movl	12(%esp), %edx
	push_saved
	movl	FIB_FRAME_SAVED(%esp), %ebx

	movzwl	FIB_FRAME_WORDS(%eax), %esi
	movzwl	FIB_FRAME_WORDS(%ecx), %edi
	testl	$FIB_WORDS_SHARE, %esi
	jnz	.Lshare
	fnstcw	FIB_FRAME_X87CW(%eax)
	movzwl	FIB_FRAME_X87CW(%eax), %edi
	cmpw	FIB_FRAME_X87CW(%ecx), %di
	jne	.Lload_x87cw
.Lx87cw_done:
	testl	$FIB_WORDS_SSE, %esi
	jz	.Lwords_done
	stmxcsr	FIB_FRAME_MXCSR(%eax)
	movl	FIB_FRAME_MXCSR(%eax), %edi
	xorl	FIB_FRAME_MXCSR(%ecx), %edi
	testl	$FIB_FRAME_MXCSR_CONTROL, %edi
	jz	.Lwords_done
.Lload_mxcsr:
	ldmxcsr	FIB_FRAME_MXCSR(%ecx)
.Lwords_done:
	show_context
	/*
	 * label: record.seq -- with the store the fiber is completely saved and its stack is left:
	 * after it another thread may run it. The stack pointer must change first: a signal in
	 * between would put its handler's frame where the fiber already runs.
	 */
	movl	FIB_FRAME_SP(%ecx), %esp
	movl	(%edx), %esi
	incl	%esi
	jz	.Lcarry
	movl	%esi, (%edx)

	.globl	fib_arch_resume
	.hidden	fib_arch_resume
fib_arch_resume:
	.cfi_remember_state
	cmpl	%ebx, FIB_FRAME_SAVED(%esp)
	je	.Lhere
	pop_saved
	popl	%ecx
	.cfi_adjust_cfa_offset -4
	.cfi_register %eip, %ecx
	jmp	*%ecx

.Lhere:
	.cfi_restore_state
	.cfi_remember_state
	pop_saved
	ret

.Lcarry:
	.cfi_restore_state
	movl	%ebx, %ebp
	movl	%edx, %edi
	movl	(%edi), %eax
	movl	4(%edi), %edx
	xorl	%ebx, %ebx
	leal	1(%edx), %ecx
	lock cmpxchg8b (%edi)
	movl	%ebp, %ebx
	jmp	fib_arch_resume

.Lload_x87cw:
	fldcw	FIB_FRAME_X87CW(%ecx)
	jmp	.Lx87cw_done

.Lshare:
	testl	$FIB_WORDS_SHARE, %edi
	jnz	.Lwords_done
	fldcw	FIB_FRAME_X87CW(%ecx)
	testl	$FIB_WORDS_SSE, %esi
	jz	.Lwords_done
	jmp	.Lload_mxcsr
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
	movl	4(%esp), %eax
	load_control .Ljump
	xorl	%ebx, %ebx
	movl	FIB_FRAME_SP(%eax), %esp
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
	movl	4(%esp), %eax
	movl	8(%esp), %edx
	movl	12(%esp), %ebx
	movl	16(%esp), %esi
	load_control .Lstart
	/* For readers: the switch that leaves this context saves no pc, since it is always the
	 * same. */
	show_resume
	xorl	%ebp, %ebp
	andl	$-16, %edx
	leal	-16(%edx), %esp
	movl	%ebp, (%esp)
	movl	%ebp, 4(%esp)
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
	movl	FIB_FRAME_SAVED + 4(%esp), %eax
	show_context
	show_resume
	movl	FIB_FRAME_SAVED + 8(%esp), %ecx
	movl	FIB_FRAME_SAVED + 12(%esp), %edx
	subl	$8, %esp
	.cfi_adjust_cfa_offset 8
	pushl	%edx
	.cfi_adjust_cfa_offset 4
	call	*%ecx
	addl	$12, %esp
	.cfi_adjust_cfa_offset -12
	pop_saved
	ret
	.cfi_endproc
	.size	fib_arch_capture, .-fib_arch_capture

/*
 * Entry of a new fiber: fib_arch_init() left the function in ebx and its argument in esi. The nop
 * keeps the return address inside this routine's CFI for a fiber that never ran.
 */
	.globl	fib_arch_entry
	.hidden	fib_arch_entry
	.type	fib_arch_entry, @function
	.p2align 4
fib_arch_entry:
	.cfi_startproc
	.cfi_undefined %eip
	nop
	.globl	fib_arch_entry_start
	.hidden	fib_arch_entry_start
fib_arch_entry_start:
	subl	$12, %esp
	.cfi_adjust_cfa_offset 12
	pushl	%esi
	.cfi_adjust_cfa_offset 4
	call	*%ebx
	ud2
	.globl	fib_arch_entry_end
	.hidden	fib_arch_entry_end
fib_arch_entry_end:
	.cfi_endproc
	.size	fib_arch_entry, .-fib_arch_entry

	.section .note.GNU-stack, "", @progbits
