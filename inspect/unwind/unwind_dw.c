/* SPDX-License-Identifier: MIT */
/*
 * unwind_dw.c - walk copied registers and bytes with libdw
 *
 * libdw is shown one thread: the fiber that is being walked. Without unwind information libdw
 * guesses by frame pointers, which may skip frames and still look whole. So a walk is kept only as
 * far as each step is covered by a rule of .eh_frame or .debug_frame.
 */
#include "inspect/unwind/unwind_dw.h"

#include <elf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/elf/debug.h"
#include "inspect/elf/image.h"

#define X86_64_R12 12

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
	return ins_source_word(dw->source, dw->fiber, address, ret) == 0;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	struct ins_unwind_dw *dw = arg;
	struct ins_registers registers;
	uint64_t word;
	unsigned i;

	ins_registers_of(dw->fiber, &registers);
	if (!ins_port(registers.machine))
		return false;
	dwfl_thread_state_register_pc(thread, registers.pc);
	for (i = 0; i < INS_REGISTERS; i++) {
		Dwarf_Word value;

		if (!ins_registers_get(&registers, i, &word))
			continue;
		value = word;
		if (!dwfl_thread_state_registers(thread, (int)i, 1, &value))
			return false;
	}
	return true;
}

static const Dwfl_Thread_Callbacks callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = memory_read,
	.set_initial_registers = set_registers,
};

/*
 * As in unwind_end.h: a fiber that has just exited on this stack left its record in this register.
 */
static bool foreign(const struct ins_unwind_dw *dw, Dwfl_Frame *outermost)
{
	const struct fib_layout *layout = &dw->source->layout;
	Dwarf_Word record;

	return (dw->fiber->flags & INS_FIBER_PAUSED) &&
	       dw->source->modules->machine.number == EM_X86_64 &&
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
	/* With another library's coroutines, anything may be below the entry. */
	if (pc - layout->entry_low >= layout->entry_high - layout->entry_low)
		return DWARF_CB_OK;
	dw->foreign = foreign(dw, frame);
	return DWARF_CB_ABORT;
}

static bool covered_by(Dwarf_CFI *cfi, Dwarf_Addr address, bool *ret_signal)
{
	Dwarf_Frame *frame = NULL;
	bool found = cfi && dwarf_cfi_addrframe(cfi, address, &frame) == 0;

	if (found)
		dwarf_frame_info(frame, NULL, NULL, ret_signal);
	free(frame);
	return found;
}

/* Whether a rule covers an address, and whether the rule is of a signal frame. */
static bool covers(Dwfl_Module *m, uint64_t pc, bool *ret_signal)
{
	Dwarf_Addr bias = 0;
	Dwarf_CFI *cfi;

	if (!m)
		return false;
	cfi = dwfl_module_eh_cfi(m, &bias);
	if (covered_by(cfi, pc - bias, ret_signal))
		return true;
	cfi = dwfl_module_dwarf_cfi(m, &bias);
	return covered_by(cfi, pc - bias, ret_signal);
}

bool ins_unwind_dw_covers(struct ins_unwind_dw *dw, uint64_t pc)
{
	Dwfl *dwfl = ins_debug_session(dw->source->modules);
	bool signal;

	return covers(dwfl ? dwfl_addrmodule(dwfl, pc) : NULL, pc, &signal);
}

/* Whether the rule of an address leaves the return address undefined. */
static bool uncalled_by(Dwarf_CFI *cfi, Dwarf_Addr address)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_Op room[3], *ops = NULL;
	size_t count = 0;
	bool ret = false;
	int back;

	if (!cfi || dwarf_cfi_addrframe(cfi, address, &frame) != 0)
		return false;
	back = dwarf_frame_info(frame, NULL, NULL, NULL);
	/* No operations but a non-NULL pointer: undefined. A NULL pointer: same value. */
	if (back >= 0 && dwarf_frame_register(frame, back, room, &ops, &count) == 0)
		ret = !count && ops == room;
	free(frame);
	return ret;
}

bool ins_unwind_dw_outermost(struct ins_unwind_dw *dw, uint64_t pc)
{
	struct ins_modules *modules = dw->source->modules;
	struct ins_module *known = ins_modules_find(modules, pc);
	Dwfl_Module *m = known ? ins_debug_module(modules, known) : NULL;
	Dwarf_Addr bias = 0;
	Dwarf_CFI *cfi = m ? dwfl_module_eh_cfi(m, &bias) : NULL;

	if (uncalled_by(cfi, pc - bias))
		return true;
	cfi = m ? dwfl_module_dwarf_cfi(m, &bias) : NULL;
	return uncalled_by(cfi, pc - bias);
}

static void interrupted(struct ins_walk *walk, unsigned frame)
{
	if (frame < walk->count)
		walk->interrupted[frame / 64] |= UINT64_C(1) << frame % 64;
}

bool ins_unwind_dw_of_signal(struct ins_unwind_dw *dw, uint64_t pc)
{
	struct ins_modules *modules = dw->source->modules;
	/* The rules of a signal frame start a byte early, because unwinders look up pc - 1. */
	struct ins_module *m = ins_modules_find(modules, pc - 1);
	bool signal = false;

	return m && covers(ins_debug_module(modules, m), pc - 1, &signal) && signal;
}

void ins_unwind_dw_signals(struct ins_unwind_dw *dw, struct ins_walk *walk)
{
	unsigned i;

	memset(walk->interrupted, 0, sizeof walk->interrupted);
	for (i = 1; i < walk->count; i++) {
		if (!ins_unwind_dw_of_signal(dw, walk->pc[i]))
			continue;
		interrupted(walk, i);
		interrupted(walk, i + 1);
	}
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
	/* The result does not matter: the end of a walk may be an error too. */
	dwfl_getthread_frames(dwfl, 1, take_frame, dw);
	ins_unwind_dw_signals(dw, ret);
	for (i = 0; i + 1 < ret->count; i++) {
		if (!ins_unwind_dw_covers(dw, ret->pc[i] - ins_walk_returned(ret, i))) {
			ret->count = i + 1;
			break;
		}
	}
}
