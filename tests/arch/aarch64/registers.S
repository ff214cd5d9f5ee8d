/* SPDX-License-Identifier: MIT */
/* registers.S - aarch64: x19-x29 and d8-d15 across a switch (tests/arch/registers.h) */
	.macro	pairs what, base, at
	\what	x19, x20, [\base, #\at]
	\what	x21, x22, [\base, #\at + 16]
	\what	x23, x24, [\base, #\at + 32]
	\what	x25, x26, [\base, #\at + 48]
	\what	x27, x28, [\base, #\at + 64]
	.endm
	.macro	floats what, base, at
	\what	d8, d9, [\base, #\at]
	\what	d10, d11, [\base, #\at + 16]
	\what	d12, d13, [\base, #\at + 32]
	\what	d14, d15, [\base, #\at + 48]
	.endm

	.text
	.globl	arch_registers_across
	.type	arch_registers_across, %function
	.p2align 4
arch_registers_across:
	.cfi_startproc
	stp	x29, x30, [sp, #-176]!
	.cfi_adjust_cfa_offset 176
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	pairs	stp, sp, 16
	floats	stp, sp, 96
	str	x1, [sp, #160]
	pairs	ldp, x0, 0
	ldr	x29, [x0, #80]
	floats	ldp, x0, 88
	mov	x0, x2
	mov	x1, x3
	mov	x2, x4
	bl	fib_arch_switch
	ldr	x1, [sp, #160]
	pairs	stp, x1, 0
	str	x29, [x1, #80]
	floats	stp, x1, 88
	pairs	ldp, sp, 16
	floats	ldp, sp, 96
	ldp	x29, x30, [sp], #176
	.cfi_adjust_cfa_offset -176
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
	.size	arch_registers_across, .-arch_registers_across

	.section .note.GNU-stack, "", %progbits
