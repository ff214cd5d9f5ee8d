/* SPDX-License-Identifier: MIT */
/*
 * registers.h - what the registers of a CPU hold, as far as it is known
 *
 * Where something stands, a pc and an sp say: without them there are no registers to speak of. Of the others as many are known
 * as somebody kept: all of a thread that was stopped, some of a fiber that another library has left, those that a frame's
 * callees have saved. They are numbered as DWARF does it.
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
	uint32_t known;		    /* bit n: at[n] is what register n holds */
	uint64_t at[INS_REGISTERS]; /* but for the numbers of sp and pc, which are above */
};

/* A machine's numbers. */
struct ins_port {
	unsigned machine; /* EM_ */
	unsigned sp, fp;
	unsigned pc;	    /* INS_REGISTERS: it has none */
	unsigned unwind_pc; /* libunwind's, whose others are DWARF's */
};

/* This machine's; NULL: it is not known. */
const struct ins_port *ins_port(void);

/* What register number holds. False: nobody knows. */
bool ins_registers_get(const struct ins_registers *registers, uint64_t number, uint64_t *ret);

/* It is known now. Numbers that are not kept are passed over. */
void ins_registers_set(struct ins_registers *registers, uint64_t number, uint64_t value);

/*
 * Where something stands, and what else is known of it: others, NULL: nothing, and its frame pointer, 0: nothing but what
 * others say.
 */
void ins_registers_make(struct ins_registers *ret, uint64_t pc, uint64_t sp, uint64_t fp,
			const struct ins_registers *others);

/* What a walk of the fiber begins with: what its row and its registers say. */
struct ins_fiber;
void ins_registers_of(const struct ins_fiber *fiber, struct ins_registers *ret);

/* The other way: the fiber is where these are. */
void ins_registers_give(const struct ins_registers *registers, struct ins_fiber *fiber);

/* The same two by the numbers of a layout's table, which has some for sp and pc (FIB_REGISTER_). */
bool ins_registers_get_saved(const struct ins_registers *registers, unsigned number, uint64_t *ret);
void ins_registers_set_saved(struct ins_registers *registers, unsigned number, uint64_t value);

/* What libunwind calls that number. */
bool ins_registers_get_unwind(const struct ins_registers *registers, int number, uint64_t *ret);

/* All that the kernel tells of a thread: with ptrace(2) and NT_PRSTATUS, in the note of a core. False: not on this machine. */
bool ins_registers_from_kernel(const elf_gregset_t *words, struct ins_registers *ret);

/* The number of the system call that the thread was in, -1: in none. False: that is not told on this machine. */
bool ins_registers_call(const elf_gregset_t *words, int64_t *ret);

/* The status of a thread of a program, as a core has it, of which only these are known; others are 0. False as above. */
bool ins_registers_to_status(const struct ins_registers *registers, pid_t tid,
			     struct elf_prstatus *ret);

#endif
