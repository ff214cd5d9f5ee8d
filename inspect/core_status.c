/* SPDX-License-Identifier: MIT */
/*
 * core_status.c - the threads in a core: what their CPUs held, and which of them a signal ended
 *
 * A fiber that ran has no place in its record: where it is, the registers of the thread say whose stack pointer lies in
 * its stack. The kernel writes the thread that the signal came to first; gcore, which ends nobody, writes no signal, or
 * the one that stopped the process for it.
 */
#include "inspect/core.h"

#include <elf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>

#include "inspect/image.h"

#define THREADS_MAX (1u << 16)

/* Where DWARF's registers are in a thread's note, for the machines there are; the note of pc, sp and fp. */
static const struct machine {
	unsigned machine;
	unsigned count;
	int pc, sp, fp; /* in the note */
	signed char at[INS_REGISTERS];
} machines[] = {
	{EM_X86_64, 17, 16, 19, 4, {10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16}},
	{EM_AARCH64, 32, 32, 31, 29, {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
				      11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
				      22, 23, 24, 25, 26, 27, 28, 29, 30, 31}},
	{EM_RISCV, 32, 0, 2, 8, {0,  1,	 2,  3,	 4,  5,	 6,  7,	 8,  9,	 10, 11, 12, 13, 14, 15,
				 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}},
};

static bool take_registers(const uint64_t *note, size_t words, struct ins_registers *ret)
{
	size_t i;
	unsigned k;

	for (i = 0; i < sizeof machines / sizeof machines[0]; i++) {
		const struct machine *m = &machines[i];

		if (m->machine != ins_machine_self() || words <= 19 || (size_t)m->pc >= words)
			continue;
		*ret = (struct ins_registers){.count = m->count};
		ret->pc = note[m->pc];
		ret->sp = note[m->sp];
		ret->fp = note[m->fp];
		for (k = 0; k < m->count && (size_t)m->at[k] < words; k++)
			ret->at[k] = note[m->at[k]];
		return true;
	}
	return false;
}

static bool ends_programs(int number)
{
	return number > 0 && number < 65 && number != SIGTRAP && number != SIGSTOP &&
	       number != SIGINT && number != SIGCONT && number != SIGCHLD;
}

static void take_status(struct ins_core *core, const struct ins_note *note)
{
	uint64_t words[sizeof(elf_gregset_t) / sizeof(uint64_t)];
	struct ins_core_status *t, *more;
	struct elf_prstatus status;

	if (note->size < sizeof status || core->threads == THREADS_MAX ||
	    ins_core_read_file(core, note->at, &status, sizeof status) < 0)
		return;
	if ((core->threads & (core->threads - 1)) == 0) {
		more = realloc(core->thread,
			       (core->threads ? core->threads * 2 : 1) * sizeof *core->thread);
		if (!more)
			return;
		core->thread = more;
	}
	t = &core->thread[core->threads];
	memcpy(words, &status.pr_reg, sizeof words);
	if (!take_registers(words, sizeof words / sizeof words[0], &t->registers))
		return;
	t->tid = status.pr_pid;
	if (core->threads++ == 0 && ends_programs(status.pr_cursig)) {
		core->crash.signal = status.pr_cursig;
		core->crash.thread = t->tid;
		core->crash.pc = t->registers.pc;
		core->crash.sp = t->registers.sp;
	}
}

/* Of the thread whose status is the last that was read. */
static void take_signal(struct ins_core *core, const struct ins_note *note)
{
	siginfo_t info;

	if (core->threads != 1 || !core->crash.signal || note->size < sizeof info ||
	    ins_core_read_file(core, note->at, &info, sizeof info) < 0 ||
	    info.si_signo != core->crash.signal)
		return;
	core->crash.code = info.si_code;
	if (info.si_code <= 0) {
		core->crash.sender = info.si_code == SI_TKILL && info.si_pid == core->crash.thread
					     ? 0
					     : info.si_pid;
		return;
	}
	if (info.si_signo != SIGSEGV && info.si_signo != SIGBUS && info.si_signo != SIGFPE &&
	    info.si_signo != SIGILL)
		return;
	core->crash.has_address = true;
	core->crash.address = (uint64_t)(uintptr_t)info.si_addr;
}

void ins_core_take_status(struct ins_core *core, const struct ins_note *note)
{
	if (note->type == NT_PRSTATUS)
		take_status(core, note);
	else if (note->type == NT_SIGINFO)
		take_signal(core, note);
}

static int by_sp(const void *a, const void *b)
{
	const struct ins_core_status *x = a, *y = b;

	return x->registers.sp < y->registers.sp ? -1 : x->registers.sp > y->registers.sp;
}

void ins_core_sort_statuses(struct ins_core *core)
{
	if (core->threads)
		qsort(core->thread, core->threads, sizeof *core->thread, by_sp);
}

const struct ins_core_status *ins_core_status_on(const struct ins_core *core, uint64_t low,
						 uint64_t size)
{
	size_t from = 0, to = core->threads;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (core->thread[mid].registers.sp < low)
			from = mid + 1;
		else
			to = mid;
	}
	if (from == core->threads || core->thread[from].registers.sp - low >= size)
		return NULL;
	return &core->thread[from];
}
