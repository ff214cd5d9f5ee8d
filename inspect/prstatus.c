/* SPDX-License-Identifier: MIT */
/*
 * prstatus.c - where the few registers that a walk needs stand among all of them
 *
 * A status has the registers in the order in which the kernel of its machine puts them; a table says where three of them
 * are, and what others must hold for a debugger to see a thread of a program. A machine that is not in it has no fibers whose stacks could be walked.
 */
#include "inspect/prstatus.h"

#include <elf.h>
#include <string.h>

#include "inspect/image.h"

struct preset {
	unsigned word;
	uint64_t value;
};

static const struct place {
	unsigned machine;
	unsigned sp, pc, fp; /* 8 bytes each */
	struct preset preset[4];
	signed char words[16]; /* by DWARF's numbers */
} places[] = {
	/* cs, ss and eflags of a program; orig_rax: in no system call, so that none is taken to be made again */
	{EM_X86_64,
	 19,
	 16,
	 4,
	 {{17, 0x33}, {20, 0x2b}, {18, 0x202}, {15, UINT64_MAX}},
	 /* rax rdx rcx rbx rsi rdi rbp rsp, r8 to r15 */
	 {10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0}},
};

static const struct place *place(void)
{
	size_t i;

	for (i = 0; i < sizeof places / sizeof places[0]; i++)
		if (places[i].machine == ins_machine_self())
			return &places[i];
	return NULL;
}

static void put(struct elf_prstatus *status, unsigned word, uint64_t value)
{
	memcpy((char *)&status->pr_reg + word * sizeof value, &value, sizeof value);
}

static uint64_t get(const struct elf_prstatus *status, unsigned word)
{
	uint64_t value;

	memcpy(&value, (const char *)&status->pr_reg + word * sizeof value, sizeof value);
	return value;
}

bool ins_prstatus_make(struct elf_prstatus *ret, pid_t tid,
		       const struct ins_thread_state *registers)
{
	const struct place *p = place();
	size_t i;

	if (!p)
		return false;
	memset(ret, 0, sizeof *ret);
	ret->pr_pid = tid;
	for (i = 0; i < sizeof p->preset / sizeof p->preset[0]; i++)
		put(ret, p->preset[i].word, p->preset[i].value);
	put(ret, p->sp, registers->sp);
	put(ret, p->pc, registers->pc);
	put(ret, p->fp, registers->fp);
	return true;
}

void ins_prstatus_set(struct elf_prstatus *status, unsigned number, uint64_t value)
{
	const struct place *p = place();

	if (p && number < sizeof p->words)
		put(status, (unsigned)p->words[number], value);
}

bool ins_prstatus_read(const struct elf_prstatus *status, struct ins_thread_state *ret)
{
	const struct place *p = place();

	if (!p)
		return false;
	ret->sp = get(status, p->sp);
	ret->pc = get(status, p->pc);
	ret->fp = get(status, p->fp);
	return true;
}
