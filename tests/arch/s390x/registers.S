/* SPDX-License-Identifier: MIT */
/* registers.S - s390x: r6-r13 and f8-f15 across a switch (tests/arch/registers.h) */
#define FRAME 240
#define OUT   232

#define EACH_GENERAL .irp n, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#define EACH_FLOAT   .irp n, 8, 9, 10, 11, 12, 13, 14, 15

	.text
	.globl	arch_registers_across
	.type	arch_registers_across, @function
	.p2align 4
arch_registers_across:
	.cfi_startproc
	stmg	%r6, %r15, 48(%r15)
	EACH_GENERAL
	.cfi_rel_offset %r\n, 48 + 8 * (\n - 6)
	.endr
	aghi	%r15, -FRAME
	.cfi_adjust_cfa_offset FRAME
	EACH_FLOAT
	std	%f\n, 160 + 8 * (\n - 8)(%r15)
	.cfi_rel_offset %f\n, 160 + 8 * (\n - 8)
	.endr
	stg	%r3, OUT(%r15)
	lgr	%r1, %r2
	lgr	%r2, %r4
	lgr	%r3, %r5
	lgr	%r4, %r6
	lmg	%r6, %r13, 0(%r1)
	EACH_FLOAT
	ld	%f\n, 64 + 8 * (\n - 8)(%r1)
	.endr
	brasl	%r14, fib_arch_switch
	lg	%r1, OUT(%r15)
	stmg	%r6, %r13, 0(%r1)
	EACH_FLOAT
	std	%f\n, 64 + 8 * (\n - 8)(%r1)
	ld	%f\n, 160 + 8 * (\n - 8)(%r15)
	.cfi_restore %f\n
	.endr
	lmg	%r6, %r15, FRAME + 48(%r15)
	.cfi_def_cfa_offset 160
	EACH_GENERAL
	.cfi_restore %r\n
	.endr
	br	%r14
	.cfi_endproc
	.size	arch_registers_across, .-arch_registers_across

	.section .note.GNU-stack, "", @progbits
