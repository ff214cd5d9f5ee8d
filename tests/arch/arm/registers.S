/* SPDX-License-Identifier: MIT */
/*
 * registers.S - 32-bit ARM: r4-r11 and d8-d15 across a switch (tests/arch/registers.h)
 *
 * The other half of the value of a register of 4 bytes is copied from in to out.
 */
	.syntax	unified
	.arch	armv7-a
	.fpu	vfpv3-d16
	.arm
	.cfi_sections .eh_frame, .debug_frame

	.text
	.globl	arch_registers_across
	.type	arch_registers_across, %function
	.p2align 4
arch_registers_across:
	.cfi_startproc
	push	{r0, r1, r4-r11, r12, lr}
	.cfi_adjust_cfa_offset 48
	.cfi_rel_offset lr, 44
	vpush	{d8-d15}
	.cfi_adjust_cfa_offset 64
	mov	r12, r0
	mov	r0, r2
	mov	r1, r3
	ldr	r2, [sp, #112]
	.irp	n, 4, 5, 6, 7, 8, 9, 10, 11
	ldr	r\n, [r12, #8 * (\n - 4)]
	.endr
	.irp	n, 8, 9, 10, 11, 12, 13, 14, 15
	vldr	d\n, [r12, #64 + 8 * (\n - 8)]
	.endr
	bl	fib_arch_switch
	ldr	r12, [sp, #64]
	ldr	r1, [sp, #68]
	.irp	n, 4, 5, 6, 7, 8, 9, 10, 11
	str	r\n, [r1, #8 * (\n - 4)]
	ldr	r2, [r12, #8 * (\n - 4) + 4]
	str	r2, [r1, #8 * (\n - 4) + 4]
	.endr
	.irp	n, 8, 9, 10, 11, 12, 13, 14, 15
	vstr	d\n, [r1, #64 + 8 * (\n - 8)]
	.endr
	vpop	{d8-d15}
	.cfi_adjust_cfa_offset -64
	pop	{r0, r1, r4-r11, r12, lr}
	.cfi_adjust_cfa_offset -48
	.cfi_restore lr
	bx	lr
	.cfi_endproc
	.size	arch_registers_across, .-arch_registers_across

	.section .note.GNU-stack, "", %progbits
