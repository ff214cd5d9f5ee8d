/* SPDX-License-Identifier: MIT */
/* registers.S - x86-64: rbx, rbp and r12-r15 across a switch (tests/arch/registers.h) */
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

	.text
	.globl	arch_registers_across
	.type	arch_registers_across, @function
	.p2align 4
arch_registers_across:
	.cfi_startproc
	.irp	reg, %rbx, %rbp, %r12, %r13, %r14, %r15
	push_one \reg
	.endr
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	movq	0(%rdi), %rbx
	movq	8(%rdi), %rbp
	movq	16(%rdi), %r12
	movq	24(%rdi), %r13
	movq	32(%rdi), %r14
	movq	40(%rdi), %r15
	movq	%rdx, %rdi
	movq	%rcx, %rsi
	movq	%r8, %rdx
	call	fib_arch_switch
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	movq	%rbx, 0(%rsi)
	movq	%rbp, 8(%rsi)
	movq	%r12, 16(%rsi)
	movq	%r13, 24(%rsi)
	movq	%r14, 32(%rsi)
	movq	%r15, 40(%rsi)
	.irp	reg, %r15, %r14, %r13, %r12, %rbp, %rbx
	pop_one \reg
	.endr
	ret
	.cfi_endproc
	.size	arch_registers_across, .-arch_registers_across

	.section .note.GNU-stack, "", @progbits
