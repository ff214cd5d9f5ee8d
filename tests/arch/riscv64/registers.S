/* SPDX-License-Identifier: MIT */
/* registers.S - 64-bit RISC-V: s0-s11 and fs0-fs11 across a switch (tests/arch/registers.h) */
	.macro	each store, float, base, at
	\store	s0, \at(\base)
	\store	s1, \at + 8(\base)
	\store	s2, \at + 16(\base)
	\store	s3, \at + 24(\base)
	\store	s4, \at + 32(\base)
	\store	s5, \at + 40(\base)
	\store	s6, \at + 48(\base)
	\store	s7, \at + 56(\base)
	\store	s8, \at + 64(\base)
	\store	s9, \at + 72(\base)
	\store	s10, \at + 80(\base)
	\store	s11, \at + 88(\base)
	\float	fs0, \at + 96(\base)
	\float	fs1, \at + 104(\base)
	\float	fs2, \at + 112(\base)
	\float	fs3, \at + 120(\base)
	\float	fs4, \at + 128(\base)
	\float	fs5, \at + 136(\base)
	\float	fs6, \at + 144(\base)
	\float	fs7, \at + 152(\base)
	\float	fs8, \at + 160(\base)
	\float	fs9, \at + 168(\base)
	\float	fs10, \at + 176(\base)
	\float	fs11, \at + 184(\base)
	.endm

	.text
	.globl	arch_registers_across
	.type	arch_registers_across, @function
	.p2align 4
arch_registers_across:
	.cfi_startproc
	addi	sp, sp, -208
	.cfi_adjust_cfa_offset 208
	each	sd, fsd, sp, 0
	sd	ra, 192(sp)
	.cfi_rel_offset ra, 192
	sd	a1, 200(sp)
	each	ld, fld, a0, 0
	mv	a0, a2
	mv	a1, a3
	mv	a2, a4
	call	fib_arch_switch
	ld	a1, 200(sp)
	each	sd, fsd, a1, 0
	each	ld, fld, sp, 0
	ld	ra, 192(sp)
	.cfi_restore ra
	addi	sp, sp, 208
	.cfi_adjust_cfa_offset -208
	ret
	.cfi_endproc
	.size	arch_registers_across, .-arch_registers_across

	.section .note.GNU-stack, "", @progbits
