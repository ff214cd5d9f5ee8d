/* SPDX-License-Identifier: MIT */
/*
 * registers.S - i386: ebx, ebp, esi and edi across a switch (tests/arch/registers.h)
 *
 * The other half of each value is copied from in to out.
 */
	.text
	.globl	arch_registers_across
	.type	arch_registers_across, @function
	.p2align 4
arch_registers_across:
	.cfi_startproc
	.irp	reg, %ebx, %ebp, %esi, %edi
	pushl	\reg
	.cfi_adjust_cfa_offset 4
	.cfi_rel_offset \reg, 0
	.endr
	movl	20(%esp), %eax
	movl	28(%esp), %ecx
	movl	32(%esp), %edx
	pushl	36(%esp)
	.cfi_adjust_cfa_offset 4
	pushl	%edx
	.cfi_adjust_cfa_offset 4
	pushl	%ecx
	.cfi_adjust_cfa_offset 4
	movl	0(%eax), %ebx
	movl	8(%eax), %ebp
	movl	16(%eax), %esi
	movl	24(%eax), %edi
	call	fib_arch_switch
	addl	$12, %esp
	.cfi_adjust_cfa_offset -12
	movl	20(%esp), %ecx
	movl	24(%esp), %eax
	movl	%ebx, 0(%eax)
	movl	%ebp, 8(%eax)
	movl	%esi, 16(%eax)
	movl	%edi, 24(%eax)
	.irp	at, 4, 12, 20, 28
	movl	\at(%ecx), %edx
	movl	%edx, \at(%eax)
	.endr
	.irp	reg, %edi, %esi, %ebp, %ebx
	popl	\reg
	.cfi_adjust_cfa_offset -4
	.cfi_restore \reg
	.endr
	ret
	.cfi_endproc
	.size	arch_registers_across, .-arch_registers_across

	.section .note.GNU-stack, "", @progbits
