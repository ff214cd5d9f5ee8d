/* SPDX-License-Identifier: MIT */
/*
 * registers.h - the known registers of a CPU
 *
 * pc and sp are always known. How many of the others are known depends on the source: all of a
 * stopped thread, some of a fiber that another library switched out, those that a frame's callees
 * have saved. Registers have DWARF's numbers.
 */
#ifndef INS_REGISTERS_H
#define INS_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/procfs.h>
#include <sys/types.h>

#define INS_REGISTERS 32
#define INS_RED_ZONE  128u /* bytes below an sp that may be in use */

struct ins_registers {
	uint64_t pc, sp;
	unsigned machine;	    /* e_machine; 0: this tool's */
	uint32_t known;		    /* bit n: at[n] is the value of register n */
	uint64_t at[INS_REGISTERS]; /* unused for the numbers of sp and pc, which are above */
};

/* The register numbers of a machine. */
struct ins_port {
	unsigned machine; /* EM_ */
	unsigned sp, fp;
	unsigned pc;	    /* INS_REGISTERS: none */
	unsigned unwind_pc; /* libunwind's number; its other numbers are DWARF's */
};

/* A machine's, by e_machine or 0 for this one; NULL: unknown machine. */
const struct ins_port *ins_port(unsigned machine);

/* Get the value of register number. False: unknown. */
bool ins_registers_get(const struct ins_registers *registers, uint64_t number, uint64_t *ret);

/* Set a register. Numbers that are not kept are ignored. */
void ins_registers_set(struct ins_registers *registers, uint64_t number, uint64_t value);

/*
 * Make a register set from pc, sp, the frame pointer (0: take it from others) and other known
 * registers (NULL: none).
 */
void ins_registers_make(struct ins_registers *ret, uint64_t pc, uint64_t sp, uint64_t fp,
			const struct ins_registers *others);

/* The registers that a walk of the fiber starts with, from its row and its registers. */
struct ins_fiber;
void ins_registers_of(const struct ins_fiber *fiber, struct ins_registers *ret);

/* The inverse: set the fiber's position to these registers. */
void ins_registers_give(const struct ins_registers *registers, struct ins_fiber *fiber);

/*
 * Get and set by the numbers of a layout's table, which has its own for sp and pc (FIB_REGISTER_).
 */
bool ins_registers_get_saved(const struct ins_registers *registers, unsigned number, uint64_t *ret);
void ins_registers_set_saved(struct ins_registers *registers, unsigned number, uint64_t value);

/* Get by libunwind's number. */
bool ins_registers_get_unwind(const struct ins_registers *registers, int number, uint64_t *ret);

/* -- registers as the kernel has them: ptrace(2), NT_PRSTATUS in a core -- */

#define INS_REGISTER_WORDS 34 /* at most */

/* How many words all registers of a thread are; 0: unknown machine, or a part of them is not kept. */
unsigned ins_registers_words(unsigned machine);

/* Convert all registers of a thread of a machine. False: unknown machine. */
bool ins_registers_from_words(unsigned machine, const uint64_t word[INS_REGISTER_WORDS],
			      struct ins_registers *ret);

/*
 * The number of the system call that the thread was in, -1: none. False: unknown on that machine.
 */
bool ins_registers_call(unsigned machine, const uint64_t word[INS_REGISTER_WORDS], int64_t *ret);

/* The inverse; words that are not known are 0. False: unknown machine. */
bool ins_registers_to_words(const struct ins_registers *registers,
			    uint64_t ret[INS_REGISTER_WORDS]);

/* Convert from this machine's format. False: unknown machine. */
bool ins_registers_from_kernel(const elf_gregset_t *words, struct ins_registers *ret);

/*
 * Argument number 0 to 5 of the system call that a thread with these registers is in. False:
 * unknown on its machine.
 */
bool ins_registers_argument(const struct ins_registers *registers, unsigned number, uint64_t *ret);

/*
 * Make the status of a thread for a core of this machine; all other members are 0. False: unknown
 * machine.
 */
bool ins_registers_to_status(const struct ins_registers *registers, pid_t tid,
			     struct elf_prstatus *ret);

#endif
