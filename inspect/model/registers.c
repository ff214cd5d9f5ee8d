/* SPDX-License-Identifier: MIT */
/*
 * registers.c - the registers of each machine: their numbers, and where the kernel stores them
 *
 * Each machine has an order in which the kernel writes all registers of a thread; ptrace(2) and
 * cores use the same order. One table says where DWARF's registers are in it, and which other words
 * a debugger needs to see a thread of a program. No other file knows a register's number, except
 * code that looks up one register by name.
 */
#include "inspect/model/registers.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "inspect/elf/image.h"
#include "inspect/model/source.h"

#define NONE	    INS_REGISTERS /* no DWARF number */
#define NO_WORD	    INS_REGISTER_WORDS
#define PRESETS_MAX 4
#define ARGUMENTS   6

struct preset {
	unsigned word;
	uint64_t value;
};

static const struct order {
	struct ins_port port;
	unsigned words;	    /* of all registers */
	unsigned pc;	    /* index of the word that has it */
	unsigned call;	    /* index of the system call's number, negative: none; or NO_WORD */
	unsigned arguments; /* of a system call, by DWARF number; 0: not known */
	unsigned char argument[ARGUMENTS];
	unsigned count;
	signed char word[INS_REGISTERS]; /* by DWARF number; -1: none */
	unsigned presets;
	struct preset preset[PRESETS_MAX];
} orders[] = {
	{.port = {EM_X86_64, .sp = 7, .fp = 6, .pc = 16, .unwind_pc = 16},
	 .words = 27,
	 .pc = 16,
	 .call = 15,
	 .arguments = ARGUMENTS,
	 .argument = {5, 4, 1, 10, 8, 9}, /* rdi, rsi, rdx, r10, r8, r9 */
	 /* rax rdx rcx rbx rsi rdi rbp rsp, r8 to r15, rip */
	 .count = 17,
	 .word = {10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16},
	 /*
	  * cs, ss and eflags of user mode; orig_rax: not in a system call, so that none is
	  * restarted
	  */
	 .presets = 4,
	 .preset = {{17, 0x33}, {20, 0x2b}, {18, 0x202}, {15, UINT64_MAX}}},
	{.port = {EM_AARCH64, .sp = 31, .fp = 29, .pc = NONE, .unwind_pc = 32},
	 .words = 34,
	 .pc = 32,
	 .call = NO_WORD,
	 .count = 32,
	 .word = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
		  16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}},
	{.port = {EM_RISCV, .sp = 2, .fp = 8, .pc = NONE, .unwind_pc = 32},
	 .words = 32,
	 .pc = 0, /* the place of the zero register */
	 .call = NO_WORD,
	 .count = 32,
	 .word = {-1, 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
		  16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}},
	/* the status word, the address, and then the general registers */
	{.port = {EM_S390, .sp = 15, .fp = 11, .pc = NONE, .unwind_pc = NONE},
	 .words = 27,
	 .pc = 1,
	 .call = NO_WORD,
	 .count = 16,
	 .word = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17},
	 /* user mode, 64-bit addresses */
	 .presets = 1,
	 .preset = {{0, UINT64_C(0x0705000180000000)}}},
};

static const struct order *order(unsigned machine)
{
	const unsigned wanted = machine ? machine : ins_machine_self();
	size_t i;

	for (i = 0; i < sizeof orders / sizeof orders[0]; i++)
		if (orders[i].port.machine == wanted)
			return &orders[i];
	return NULL;
}

const struct ins_port *ins_port(unsigned machine)
{
	const struct order *o = order(machine);

	return o ? &o->port : NULL;
}

bool ins_registers_get(const struct ins_registers *registers, uint64_t number, uint64_t *ret)
{
	const struct ins_port *p = ins_port(registers->machine);

	if (number >= INS_REGISTERS)
		return false;
	if (p && number == p->sp)
		*ret = registers->sp;
	else if (p && number == p->pc)
		*ret = registers->pc;
	else if (registers->known >> number & 1)
		*ret = registers->at[number];
	else
		return false;
	return true;
}

void ins_registers_set(struct ins_registers *registers, uint64_t number, uint64_t value)
{
	const struct ins_port *p = ins_port(registers->machine);

	if (number >= INS_REGISTERS)
		return;
	if (p && number == p->sp) {
		registers->sp = value;
	} else if (p && number == p->pc) {
		registers->pc = value;
	} else {
		registers->at[number] = value;
		registers->known |= UINT32_C(1) << number;
	}
}

void ins_registers_make(struct ins_registers *ret, uint64_t pc, uint64_t sp, uint64_t fp,
			const struct ins_registers *others)
{
	const struct ins_port *p;

	if (others)
		*ret = *others;
	else
		memset(ret, 0, sizeof *ret);
	ret->pc = pc;
	ret->sp = sp;
	p = ins_port(ret->machine);
	if (fp && p)
		ins_registers_set(ret, p->fp, fp);
}

void ins_registers_of(const struct ins_fiber *fiber, struct ins_registers *ret)
{
	const struct fib_row *row = &fiber->row;

	ins_registers_make(ret, row->pc, row->sp, row->fp, &fiber->registers);
}

void ins_registers_give(const struct ins_registers *registers, struct ins_fiber *fiber)
{
	const struct ins_port *p = ins_port(registers->machine);

	fiber->registers = *registers;
	fiber->row.pc = registers->pc;
	fiber->row.sp = registers->sp;
	if (!p || !ins_registers_get(registers, p->fp, &fiber->row.fp))
		fiber->row.fp = 0;
}

bool ins_registers_get_saved(const struct ins_registers *registers, unsigned number, uint64_t *ret)
{
	if (number == FIB_REGISTER_SP)
		*ret = registers->sp;
	else if (number == FIB_REGISTER_PC)
		*ret = registers->pc;
	else
		return ins_registers_get(registers, number, ret);
	return true;
}

void ins_registers_set_saved(struct ins_registers *registers, unsigned number, uint64_t value)
{
	if (number == FIB_REGISTER_SP)
		registers->sp = value;
	else if (number == FIB_REGISTER_PC)
		registers->pc = value;
	else
		ins_registers_set(registers, number, value);
}

bool ins_registers_get_unwind(const struct ins_registers *registers, int number, uint64_t *ret)
{
	const struct ins_port *p = ins_port(registers->machine);

	if (number < 0 || !p || (unsigned)number != p->unwind_pc)
		return number >= 0 && ins_registers_get(registers, (uint64_t)number, ret);
	*ret = registers->pc;
	return true;
}

/* -- the kernel's formats -- */

unsigned ins_registers_words(unsigned machine)
{
	const struct order *o = order(machine);

	return o ? o->words : 0;
}

bool ins_registers_from_words(unsigned machine, const uint64_t word[INS_REGISTER_WORDS],
			      struct ins_registers *ret)
{
	const struct order *o = order(machine);
	unsigned i;

	memset(ret, 0, sizeof *ret);
	ret->machine = machine;
	if (!o)
		return false;
	for (i = 0; i < o->count; i++)
		if (o->word[i] >= 0)
			ins_registers_set(ret, i, word[o->word[i]]);
	ret->pc = word[o->pc];
	return true;
}

bool ins_registers_call(unsigned machine, const uint64_t word[INS_REGISTER_WORDS], int64_t *ret)
{
	const struct order *o = order(machine);

	if (!o || o->call == NO_WORD)
		return false;
	*ret = (int64_t)word[o->call] < 0 ? -1 : (int64_t)word[o->call];
	return true;
}

bool ins_registers_to_words(const struct ins_registers *registers, uint64_t ret[INS_REGISTER_WORDS])
{
	const struct order *o = order(registers->machine);
	unsigned i;

	memset(ret, 0, INS_REGISTER_WORDS * sizeof *ret);
	if (!o)
		return false;
	for (i = 0; i < o->presets; i++)
		ret[o->preset[i].word] = o->preset[i].value;
	for (i = 0; i < o->count; i++)
		if (o->word[i] >= 0)
			ins_registers_get(registers, i, &ret[o->word[i]]);
	ret[o->pc] = registers->pc;
	return true;
}

bool ins_registers_argument(const struct ins_registers *registers, unsigned number, uint64_t *ret)
{
	const struct order *o = order(registers->machine);

	return o && number < o->arguments && ins_registers_get(registers, o->argument[number], ret);
}

bool ins_registers_from_kernel(const elf_gregset_t *words, struct ins_registers *ret)
{
	uint64_t word[INS_REGISTER_WORDS] = {0};

	memcpy(word, words, sizeof *words < sizeof word ? sizeof *words : sizeof word);
	return ins_registers_from_words(0, word, ret);
}

bool ins_registers_to_status(const struct ins_registers *registers, pid_t tid,
			     struct elf_prstatus *ret)
{
	uint64_t word[INS_REGISTER_WORDS];

	if (!ins_registers_to_words(registers, word))
		return false;
	memset(ret, 0, sizeof *ret);
	ret->pr_pid = tid;
	memcpy(&ret->pr_reg, word,
	       sizeof ret->pr_reg < sizeof word ? sizeof ret->pr_reg : sizeof word);
	return true;
}
