/* SPDX-License-Identifier: MIT */
/*
 * unwind_dw.c - libdw's walk over copied registers and bytes
 *
 * libdw sees one thread that is whatever fiber we are walking. Where there is no unwind information
 * it guesses by frame pointers, which may skip frames and still look whole; so a walk is kept only
 * as far as each step is covered by a rule of .eh_frame or .debug_frame.
 */
#include "inspect/unwind_dw.h"

#include <elf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>

#include "inspect/debug.h"
#include "inspect/image.h"

#define X86_64_R12 12

/* DWARF's numbers of the two registers that a walk starts with. */
static const struct {
	unsigned machine;
	int sp, fp;
} registers[] = {
	{EM_X86_64, 7, 6},
	{EM_AARCH64, 31, 29},
	{EM_RISCV, 2, 8},
};

int ins_unwind_dw_frame_pointer(void)
{
	size_t i;

	for (i = 0; i < sizeof registers / sizeof registers[0]; i++)
		if (registers[i].machine == ins_machine_self())
			return registers[i].fp;
	return -1;
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
	(void)dwfl;
	if (*thread_arg)
		return 0;
	*thread_arg = arg;
	return 1;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
	(void)dwfl;
	*thread_arg = arg;
	return tid == 1;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *arg)
{
	struct ins_unwind_dw *dw = arg;

	(void)dwfl;
	return ins_source_memory(dw->source, dw->fiber, address, ret, sizeof *ret) == 0;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	struct ins_unwind_dw *dw = arg;
	const struct fib_row *row = &dw->fiber->row;
	size_t i;

	for (i = 0; i < sizeof registers / sizeof registers[0]; i++) {
		Dwarf_Word sp = row->sp, fp = row->fp, reg;
		int k;

		if (registers[i].machine != ins_machine_self())
			continue;
		for (k = 0; k < INS_REGISTERS; k++) {
			reg = dw->fiber->reg[k];
			if ((dw->fiber->saved >> k & 1) &&
			    !dwfl_thread_state_registers(thread, k, 1, &reg))
				return false;
		}
		dwfl_thread_state_register_pc(thread, row->pc);
		if (dw->fiber->registers && dw->fiber->registers->count)
			return dwfl_thread_state_registers(thread, 0, dw->fiber->registers->count,
							   dw->fiber->registers->at);
		return dwfl_thread_state_registers(thread, registers[i].sp, 1, &sp) &&
		       dwfl_thread_state_registers(thread, registers[i].fp, 1, &fp);
	}
	return false;
}

static const Dwfl_Thread_Callbacks callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = memory_read,
	.set_initial_registers = set_registers,
};

/* As unwind_end.h has it: a fiber that has ended on this stack a moment ago left its record in this register. */
static bool foreign(const struct ins_unwind_dw *dw, Dwfl_Frame *outermost)
{
	const struct fib_layout *layout = &dw->source->layout;
	Dwarf_Word record;

	return dw->fiber->registers && ins_machine_self() == EM_X86_64 &&
	       dwfl_frame_reg(outermost, X86_64_R12, &record) == 0 &&
	       record != dw->fiber->row.record &&
	       record - layout->records < layout->committed * layout->record_size;
}

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct ins_unwind_dw *dw = arg;
	const struct fib_layout *layout = &dw->source->layout;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, NULL) || dw->walk->count == INS_WALK_MAX)
		return DWARF_CB_ABORT;
	dw->walk->pc[dw->walk->count++] = pc;
	pc -= dw->walk->count > 1;
	/* Below the entry of another library's coroutines may be anything. */
	if (pc - layout->entry_low >= layout->entry_high - layout->entry_low)
		return DWARF_CB_OK;
	dw->foreign = foreign(dw, frame);
	return DWARF_CB_ABORT;
}

static bool covered_by(Dwarf_CFI *cfi, Dwarf_Addr address)
{
	Dwarf_Frame *frame = NULL;
	bool found = cfi && dwarf_cfi_addrframe(cfi, address, &frame) == 0;

	free(frame);
	return found;
}

bool ins_unwind_dw_covers(struct ins_unwind_dw *dw, uint64_t pc)
{
	Dwfl *dwfl = ins_debug_session(dw->source->modules);
	Dwfl_Module *m = dwfl ? dwfl_addrmodule(dwfl, pc) : NULL;
	Dwarf_Addr bias = 0;
	Dwarf_CFI *cfi;

	if (!m)
		return false;
	cfi = dwfl_module_eh_cfi(m, &bias);
	if (covered_by(cfi, pc - bias))
		return true;
	cfi = dwfl_module_dwarf_cfi(m, &bias);
	return covered_by(cfi, pc - bias);
}

void ins_unwind_dw(struct ins_unwind_dw *dw, const struct ins_fiber *fiber, struct ins_walk *ret)
{
	Dwfl *dwfl = ins_debug_session(dw->source->modules);
	unsigned i;

	ret->count = 0;
	dw->foreign = false;
	dw->fiber = fiber;
	dw->walk = ret;
	if (dwfl && !dw->tried) {
		dw->tried = true;
		ins_debug_all(dw->source->modules);
		dw->attached = dwfl_attach_state(dwfl, NULL, 1, &callbacks, dw);
	}
	if (!dwfl || !dw->attached)
		return;
	/* Its result does not matter: the end of a walk may be an error too. */
	dwfl_getthread_frames(dwfl, 1, take_frame, dw);
	for (i = 0; i + 1 < ret->count; i++) {
		if (!ins_unwind_dw_covers(dw, ret->pc[i] - (i > 0))) {
			ret->count = i + 1;
			break;
		}
	}
}
