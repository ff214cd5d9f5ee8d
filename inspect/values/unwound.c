/* SPDX-License-Identifier: MIT */
/*
 * unwound.c - get the registers of a caller from those of a frame
 *
 * The rules of .eh_frame and .debug_frame say where the frame saved each register. A register
 * without a rule that the ABI does not preserve is unknown from there on: a wrong value is worse
 * than none.
 *
 * The walk was made by another unwinder. Each step here has to lead to the address of the next
 * frame in the walk. If it does not, the registers of this frame and all outer ones are unknown.
 */
#include "inspect/values/unwound.h"

#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/elf/debug.h"
#include "inspect/values/location.h"

/* The row of the unwind table for the address; the caller frees it. */
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

/* Evaluate an expression of a table to one number. */
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

/*
 * Compute the frame's CFA, and in *outer the registers of its caller. False: there is no caller, or
 * no rule leads to it.
 */
static bool step(struct ins_source *source, const struct ins_fiber *fiber,
		 struct ins_unwound *inner, struct ins_registers *outer)
{
	struct ins_scene scene = {.source = source, .fiber = fiber, .frames = inner, .count = 1};
	Dwarf_Frame *frame = frame_at(source, inner->registers.pc - inner->returned, &scene.bias);
	Dwarf_Op mem[3], *ops;
	uint32_t found = 0;
	int i, ra;
	size_t n;

	if (!frame)
		return false;
	ra = dwarf_frame_info(frame, NULL, NULL, NULL);
	if (dwarf_frame_cfa(frame, &ops, &n) == 0 && n &&
	    number_of(&scene, ops, n, true, &inner->cfa))
		inner->has_cfa = true;
	for (i = 0; inner->has_cfa && outer && i < INS_REGISTERS; i++) {
		uint64_t value;

		ops = NULL;
		if (dwarf_frame_register(frame, i, mem, &ops, &n) != 0 ||
		    !(n ? number_of(&scene, ops, n, false, &value)
			: !ops && ins_registers_get(&inner->registers, (unsigned)i, &value)))
			continue;
		ins_registers_set(outer, (unsigned)i, value);
		found |= UINT32_C(1) << i;
	}
	free(frame);
	if (!outer || ra < 0 || ra >= INS_REGISTERS || !(found >> ra & 1))
		return false;
	ins_registers_get(outer, (unsigned)ra, &outer->pc);
	/* The caller's stack pointer is the CFA, unless a rule says otherwise. */
	if (!(found >> ins_port(inner->registers.machine)->sp & 1))
		outer->sp = inner->cfa;
	return true;
}

unsigned ins_unwound_find(struct ins_source *source, const struct ins_fiber *fiber,
			  const struct ins_walk *walk, struct ins_unwound *ret)
{
	unsigned i;

	if (!walk->count || !fiber->stack || !ins_port(fiber->registers.machine) ||
	    fiber->row.pc != walk->pc[0])
		return 0;
	memset(&ret[0], 0, sizeof ret[0]);
	ins_registers_of(fiber, &ret[0].registers);
	for (i = 0; i < walk->count; i++) {
		bool last = i + 1 == walk->count;

		if (!last) {
			memset(&ret[i + 1], 0, sizeof ret[i + 1]);
			ret[i + 1].registers.machine = ret[i].registers.machine;
		}
		ret[i].returned = ins_walk_returned(walk, i);
		if (!step(source, fiber, &ret[i], last ? NULL : &ret[i + 1].registers) || last)
			return i + 1;
		if (ret[i + 1].registers.pc != walk->pc[i + 1])
			return i + 1;
	}
	return i;
}
