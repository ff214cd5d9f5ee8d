/* SPDX-License-Identifier: MIT */
/*
 * registers.c - from the registers of a frame to those of its caller
 *
 * The rules of .eh_frame and .debug_frame say for each register where the frame saved it. A register of which they
 * say nothing, and which the machine's ABI does not have kept, is unknown from there on: what it holds may be anything, and a
 * wrong value is worse than none.
 *
 * A walk was made by another unwinder. Each step here has to lead to the address where that one went; where it does not, the
 * registers of this frame and all outer ones are unknown.
 */
#include "inspect/registers.h"

#include <elf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/debug.h"
#include "inspect/image.h"
#include "inspect/location.h"

/* DWARF's numbers of the stack and frame pointers. */
static const struct machine {
	unsigned machine;
	int sp, fp;
} machines[] = {
	{EM_X86_64, 7, 6},
	{EM_AARCH64, 31, 29},
	{EM_RISCV, 2, 8},
};

static const struct machine *machine(void)
{
	size_t i;

	for (i = 0; i < sizeof machines / sizeof machines[0]; i++)
		if (machines[i].machine == ins_machine_self())
			return &machines[i];
	return NULL;
}

int ins_registers_memory(struct ins_source *source, const struct ins_fiber *fiber, uint64_t address,
			 void *buf, size_t size)
{
	uint64_t into = address - fiber->row.sp;

	if (fiber->stack && into < fiber->stack_size && size <= fiber->stack_size - into) {
		memcpy(buf, fiber->stack + into, size);
		return 0;
	}
	/* What was not copied is not of the same moment any more. */
	if (address - fiber->row.stack_low < fiber->row.stack_size)
		return -EFAULT;
	if (ins_modules_read(source->modules, address, buf, size, false) == 0)
		return 0;
	if (source->memory && source->memory(source, address, buf, size) == 0)
		return 0;
	return -EFAULT;
}

static void set(struct ins_frame_registers *r, int number, uint64_t value)
{
	if (number >= 0 && number < INS_REGISTERS) {
		r->value[number] = value;
		r->known |= UINT32_C(1) << number;
	}
}

/* The table's line for the address; the caller frees it. */
static Dwarf_Frame *frame_at(struct ins_source *source, uint64_t address, Dwarf_Addr *ret_bias)
{
	struct ins_module *m = ins_modules_find(source->modules, address);
	Dwfl_Module *debug = m && m->known ? ins_debug_module(source->modules, m) : NULL;
	Dwarf_Frame *frame = NULL;
	Dwarf_CFI *cfi;

	if (!debug)
		return NULL;
	cfi = dwfl_module_eh_cfi(debug, ret_bias);
	if (cfi && dwarf_cfi_addrframe(cfi, address - *ret_bias, &frame) == 0)
		return frame;
	cfi = dwfl_module_dwarf_cfi(debug, ret_bias);
	if (cfi && dwarf_cfi_addrframe(cfi, address - *ret_bias, &frame) == 0)
		return frame;
	return NULL;
}

/* One number out of an expression of a table. */
static bool number_of(const struct ins_scene *scene, const Dwarf_Op *ops, size_t n, bool address,
		      uint64_t *ret)
{
	struct ins_location where;
	bool known[sizeof *ret];
	uint64_t fault;
	unsigned op;

	if (ins_location_run(scene, NULL, ops, n, &where, &op) < 0 || where.count != 1)
		return false;
	if (address && where.piece[0].where == INS_MEMORY) {
		*ret = where.piece[0].number;
		return true;
	}
	return ins_location_fetch(scene, &where, (unsigned char *)ret, known, sizeof *ret,
				  &fault) == 0 &&
	       known[0];
}

/* Give the frame its CFA, and *outer the registers of its caller. False: there is no caller, or no rule leads to it. */
static bool step(struct ins_source *source, const struct ins_fiber *fiber, bool returned,
		 struct ins_frame_registers *inner, struct ins_frame_registers *outer)
{
	struct ins_scene scene = {.source = source, .fiber = fiber, .frames = inner, .count = 1};
	Dwarf_Frame *frame = frame_at(source, inner->pc - returned, &scene.bias);
	Dwarf_Op mem[3], *ops;
	bool signal = false;
	int i, ra;
	size_t n;

	if (!frame)
		return false;
	ra = dwarf_frame_info(frame, NULL, NULL, &signal);
	if (dwarf_frame_cfa(frame, &ops, &n) == 0 && n &&
	    number_of(&scene, ops, n, true, &inner->cfa))
		inner->has_cfa = true;
	for (i = 0; inner->has_cfa && outer && i < INS_REGISTERS; i++) {
		uint64_t value;

		ops = NULL;
		if (dwarf_frame_register(frame, i, mem, &ops, &n) != 0)
			continue;
		if (!n && !ops && (inner->known >> i & 1))
			set(outer, i, inner->value[i]);
		else if (n && number_of(&scene, ops, n, false, &value))
			set(outer, i, value);
	}
	free(frame);
	if (!outer || ra < 0 || ra >= INS_REGISTERS || !(outer->known >> ra & 1))
		return false;
	outer->pc = outer->value[ra];
	/* The caller's stack pointer is where the frame ends, unless a rule says otherwise. */
	if (machine() && !(outer->known >> machine()->sp & 1))
		set(outer, machine()->sp, inner->cfa);
	return !signal;
}

unsigned ins_registers_find(struct ins_source *source, const struct ins_fiber *fiber,
			    const struct ins_walk *walk, struct ins_frame_registers *ret)
{
	unsigned i;

	if (!walk->count || !fiber->stack || !machine())
		return 0;
	memset(&ret[0], 0, sizeof ret[0]);
	ret[0].pc = fiber->row.pc;
	set(&ret[0], machine()->sp, fiber->row.sp);
	if (fiber->flags & INS_FIBER_FP)
		set(&ret[0], machine()->fp, fiber->row.fp);
	if (ret[0].pc != walk->pc[0])
		return 0;
	for (i = 0; i < walk->count; i++) {
		bool last = i + 1 == walk->count;

		if (!last)
			memset(&ret[i + 1], 0, sizeof ret[i + 1]);
		if (!step(source, fiber, i > 0, &ret[i], last ? NULL : &ret[i + 1]) || last)
			return i + 1;
		if (ret[i + 1].pc != walk->pc[i + 1])
			return i + 1;
	}
	return i;
}
