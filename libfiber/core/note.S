/* SPDX-License-Identifier: MIT */
/*
 * note.S - where the registry is, for readers of a stripped program
 *
 * An allocated ELF note beside the registry, for every machine: struct fib_layout_note, type
 * FIB_LAYOUT_NOTE_TYPE. It is assembly because C has no constant for a distance between two objects, and
 * a file of its own because link-time optimisation does not look into assembly that is part of C.
 */
	.globl	fib_registry_note
	.hidden	fib_registry_note
	.section .note.fiber, "a", %note
	.balign	4
fib_registry_note:
	.long	6, 8, 1			/* name size, description size, FIB_LAYOUT_NOTE_TYPE */
	.asciz	"fiber"
	.balign	4
1:	.quad	fib_registry_here - 1b

	.section .note.GNU-stack, "", %progbits
