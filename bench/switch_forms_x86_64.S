/* SPDX-License-Identifier: MIT */
/*
 * switch_forms_x86_64.S - the out-of-line routine that switch_forms.c measures
 *
 * The same steps as libfiber's own switch, without its CFI; struct context is the one of
 * switch_forms.c: sp 0, fp 8, mxcsr 24, x87 control word 28.
 */
	.text

/* A fiber's first switch arrives here with its function and argument on the stack. */
	.globl	start
	.type	start, @function
start:
	popq	%rax
	popq	%rdi
	call	*%rax
	ud2
	.size	start, . - start

/* switch_ret(from: rdi, to: rsi) */
	.p2align 4
	.globl	switch_ret
	.type	switch_ret, @function
switch_ret:
	pushq	%rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	movq	%rsp, (%rdi)
	movq	%rbp, 8(%rdi)
	stmxcsr	24(%rdi)
	fnstcw	28(%rdi)
	movl	24(%rsi), %eax
	xorl	24(%rdi), %eax
	testl	$0xffffffc0, %eax
	jne	3f
1:	movzwl	28(%rsi), %eax
	cmpw	28(%rdi), %ax
	jne	4f
2:	movq	(%rsi), %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	ret
3:	ldmxcsr	24(%rsi)
	jmp	1b
4:	fldcw	28(%rsi)
	jmp	2b
	.size	switch_ret, . - switch_ret

	.section .note.GNU-stack, "", @progbits
