/* SPDX-License-Identifier: MIT */
/*
 * note.S - where the registry is, for readers of a stripped program
 *
 * An allocated ELF note beside the registry, for every machine: struct fib_layout_note, type
 * FIB_LAYOUT_NOTE_TYPE. It is assembly because C has no constant expression for a distance between
 * two objects. It is a separate file because link-time optimisation does not look into assembly
 * inside C.
 */
	.globl	fib_registry_note
	.hidden	fib_registry_note
	.section .note.fiber, "a", %note
	.balign	4
fib_registry_note:
	.long	6, 8, 1			/* name size, description size, FIB_LAYOUT_NOTE_TYPE */
	.asciz	"fiber"
	.balign	4
/* An assembler for 32 bits has no distance of 64 bits. Readers add it modulo 2^32. */
#if __SIZEOF_POINTER__ == 8
1:	.quad	fib_registry_here - 1b
#elif __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
1:	.long	0, fib_registry_here - 1b
#else
1:	.long	fib_registry_here - 1b, 0
#endif

/* gdb's commands for fibers, inside programs that are linked with an archive: 4 marks a Python
 * script as text. A shared library has its script in a file beside it, where gdb looks
 * (scripts/install.mk). */
#if !defined(__PIC__) || defined(__PIE__)
	.section .debug_gdb_scripts, "MS", %progbits, 1
	.byte	4
	.ascii	"gdb.inlined-libfiber\n"
	.incbin	"libfiber-gdb.py"
	.byte	0
#endif

	.section .note.GNU-stack, "", %progbits
