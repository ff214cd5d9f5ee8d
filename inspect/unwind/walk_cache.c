/* SPDX-License-Identifier: MIT */
/*
 * walk_cache.c - walk by cached rules
 *
 * The step from a frame to its caller depends only on the address of the frame's code. For nearly
 * all code the rule has one form: the frame ends (CFA) at a fixed distance above the stack pointer
 * or the frame pointer; the return address is at a fixed distance below the CFA; the caller's frame
 * pointer is there too, or was not changed. Such a rule is read once from the tables that unwinders
 * read, and kept by address.
 *
 * This does not assume that similar stacks are equal. Equal-looking stacks differ in the data
 * between their return addresses, and a frame with alloca() differs in size. Every step reads this
 * fiber's own stack; two fibers in the same place share only the rule.
 *
 * Rules of any other form (an expression, a signal frame, another register) are not cached. The
 * cached walk is discarded in these cases: it reaches a place without a cached rule; it leaves the
 * copied bytes; it does not go upwards; it does not end in the routine that every fiber starts in.
 * Then the unwinders walk. This file never marks a walk truncated, because it cannot say why.
 *
 * The rules come from libdw and the walks from libunwind, and the two may read a table differently.
 * So rules are learned from a whole walk and are then checked: they must lead through the same
 * stack to the same addresses. A rule that leads elsewhere is not used.
 */
#include "inspect/unwind/walk_cache.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/elf/debug.h"
#include "inspect/elf/image.h"

enum cfa {
	CFA_UNKNOWN, /* nothing was learned here */
	CFA_COMPLEX, /* the rule has another form */
	CFA_NONE,    /* outermost: a walk ends here */
	CFA_SP,
	CFA_FP,
};

enum saved { SAVED_NOT, SAVED_SAME, SAVED_AT };

struct rule {
	uint64_t pc;
	bool returned;	 /* pc is a return address: look up the call before it */
	uint8_t cfa;	 /* enum cfa */
	uint8_t fp;	 /* enum saved: the caller's frame pointer */
	int32_t cfa_off; /* from the register */
	int32_t pc_off;	 /* of the return address, from the CFA */
	int32_t fp_off;	 /* of the saved frame pointer, from the CFA */
};

struct ins_walk_cache {
	struct ins_source *source;
	const struct ins_port *port; /* NULL: an unknown machine */
	struct rule *rules;
	size_t used, room; /* room is 0 or a power of two */
	struct ins_walk proof;
};

int ins_walk_cache_new(struct ins_source *source, struct ins_walk_cache **ret)
{
	struct ins_walk_cache *c = calloc(1, sizeof *c);

	*ret = c;
	if (!c)
		return -ENOMEM;
	c->source = source;
	c->port = ins_port(source->modules->machine.number);
	return 0;
}

void ins_walk_cache_free(struct ins_walk_cache *cache)
{
	if (cache)
		free(cache->rules);
	free(cache);
}

/* -- the table -- */

/* The rule of this place, or the free slot for it. The table has room. */
static struct rule *slot_of(const struct ins_walk_cache *c, uint64_t pc, bool returned)
{
	size_t i = (size_t)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (c->room - 1);

	while (c->rules[i].cfa != CFA_UNKNOWN &&
	       (c->rules[i].pc != pc || c->rules[i].returned != returned))
		i = (i + 1) & (c->room - 1);
	return &c->rules[i];
}

static bool make_room(struct ins_walk_cache *c)
{
	struct rule *old = c->rules;
	size_t i, room = c->room;

	if (c->used * 2 < room)
		return true;
	c->rules = calloc(room ? room * 2 : 256, sizeof *c->rules);
	if (!c->rules) {
		c->rules = old;
		return false;
	}
	c->room = room ? room * 2 : 256;
	for (i = 0; i < room; i++)
		if (old[i].cfa != CFA_UNKNOWN)
			*slot_of(c, old[i].pc, old[i].returned) = old[i];
	free(old);
	return true;
}

/* -- walking -- */

enum end { END_WHOLE, END_NO_RULE, END_LOST };

static bool load(const struct ins_walk_cache *c, const struct ins_fiber *fiber, uint64_t address,
		 uint64_t *ret)
{
	uint64_t into = address - fiber->row.sp;

	if (into >= fiber->stack_size || fiber->stack_size - into < sizeof *ret)
		return false;
	memcpy(ret, fiber->stack + into, sizeof *ret);
	if (c->source->modules->machine.swapped)
		ins_swap(ret, sizeof *ret);
	return true;
}

static bool in_entry(const struct ins_walk_cache *c, uint64_t pc, bool returned)
{
	const struct fib_layout *layout = &c->source->layout;

	return pc - returned >= layout->entry_low && pc - returned < layout->entry_high;
}

static enum end follow(const struct ins_walk_cache *c, const struct ins_fiber *fiber,
		       struct ins_walk *ret)
{
	uint64_t pc = fiber->row.pc, sp = fiber->row.sp, fp = fiber->row.fp, cfa;
	bool has_fp = fp != 0;
	const struct rule *r;

	for (ret->count = 0; ret->count < INS_WALK_MAX; sp = cfa) {
		bool returned = ret->count > 0;

		ret->pc[ret->count++] = pc;
		if (c->source->layout.recipe == FIB_RECIPE_SAVED && in_entry(c, pc, returned))
			return END_WHOLE;
		r = slot_of(c, pc, returned);
		if (r->cfa == CFA_NONE)
			return in_entry(c, pc, returned) ? END_WHOLE : END_LOST;
		if (r->cfa < CFA_SP || (r->cfa == CFA_FP && !has_fp))
			return END_NO_RULE;
		cfa = (r->cfa == CFA_FP ? fp : sp) + (uint64_t)(int64_t)r->cfa_off;
		if (cfa <= sp || !load(c, fiber, cfa + (uint64_t)(int64_t)r->pc_off, &pc) || !pc)
			return END_LOST;
		if (r->fp == SAVED_AT && !load(c, fiber, cfa + (uint64_t)(int64_t)r->fp_off, &fp))
			return END_LOST;
		has_fp = r->fp == SAVED_AT || (r->fp == SAVED_SAME && has_fp);
	}
	return END_LOST;
}

bool ins_walk_cache_walk(struct ins_walk_cache *cache, const struct ins_fiber *fiber,
			 struct ins_walk *ret)
{
	if (!cache->room || !fiber->stack)
		return false;
	return follow(cache, fiber, ret) == END_WHOLE;
}

/* -- learning -- */

static bool fits(Dwarf_Word number, int32_t *ret)
{
	*ret = (int32_t)number;
	return (Dwarf_Word)(int64_t)*ret == number;
}

/* Accept [register] + offset only. */
static bool read_cfa(const struct ins_walk_cache *c, Dwarf_Frame *frame, struct rule *ret)
{
	Dwarf_Op *ops;
	Dwarf_Word reg, offset;
	size_t n;

	if (dwarf_frame_cfa(frame, &ops, &n) != 0 || n != 1)
		return false;
	if (ops[0].atom == DW_OP_bregx) {
		reg = ops[0].number;
		offset = ops[0].number2;
	} else if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
		reg = ops[0].atom - DW_OP_breg0;
		offset = ops[0].number;
	} else {
		return false;
	}
	if (reg != (Dwarf_Word)c->port->sp && reg != (Dwarf_Word)c->port->fp)
		return false;
	ret->cfa = reg == (Dwarf_Word)c->port->sp ? CFA_SP : CFA_FP;
	return fits(offset, &ret->cfa_off);
}

/* Where the caller's register is. False: none of the three forms. */
static bool read_saved(Dwarf_Frame *frame, int reg, enum saved *ret, int32_t *ret_off)
{
	Dwarf_Op mem[3], *ops = NULL;
	size_t n;

	*ret_off = 0;
	if (dwarf_frame_register(frame, reg, mem, &ops, &n) != 0)
		return false;
	*ret = n ? SAVED_AT : ops ? SAVED_NOT : SAVED_SAME;
	if (!n)
		return true;
	if (ops[0].atom != DW_OP_call_frame_cfa || n > 2)
		return false;
	return n == 1 || (ops[1].atom == DW_OP_plus_uconst && fits(ops[1].number, ret_off));
}

/* Whether the caller's stack pointer is the CFA itself: a value, not a place. */
static bool plain_sp(Dwarf_Frame *frame, int sp)
{
	Dwarf_Op mem[3], *ops = NULL;
	size_t n;

	return dwarf_frame_register(frame, sp, mem, &ops, &n) == 0 && n == 2 &&
	       ops[0].atom == DW_OP_call_frame_cfa && ops[1].atom == DW_OP_stack_value;
}

static bool read_frame(const struct ins_walk_cache *c, Dwarf_Frame *frame, struct rule *ret)
{
	Dwarf_Addr start, end;
	bool signal = false;
	enum saved pc, fp;
	int ra = dwarf_frame_info(frame, &start, &end, &signal);

	if (ra < 0 || signal || !read_saved(frame, ra, &pc, &ret->pc_off))
		return false;
	if (pc == SAVED_NOT) {
		ret->cfa = CFA_NONE;
		return true;
	}
	if (pc != SAVED_AT || !plain_sp(frame, c->port->sp) ||
	    !read_saved(frame, c->port->fp, &fp, &ret->fp_off))
		return false;
	ret->fp = (uint8_t)fp;
	return read_cfa(c, frame, ret);
}

static bool read_table(const struct ins_walk_cache *c, Dwarf_CFI *cfi, Dwarf_Addr address,
		       struct rule *ret, bool *ret_found)
{
	Dwarf_Frame *frame = NULL;
	bool good;

	*ret_found = cfi && dwarf_cfi_addrframe(cfi, address, &frame) == 0;
	good = *ret_found && read_frame(c, frame, ret);
	free(frame);
	return good;
}

/* Read the rule for the place from .eh_frame or, if that has none, from .debug_frame. */
static bool read_rule(const struct ins_walk_cache *c, struct rule *ret)
{
	uint64_t address = ret->pc - ret->returned;
	struct ins_modules *modules = c->source->modules;
	struct ins_module *m = ins_modules_find(modules, address);
	Dwfl_Module *debug = m && m->known ? ins_debug_module(modules, m) : NULL;
	Dwarf_Addr bias = 0;
	Dwarf_CFI *cfi;
	bool found = false, good = false;

	if (!debug)
		return false;
	cfi = dwfl_module_eh_cfi(debug, &bias);
	good = read_table(c, cfi, address - bias, ret, &found);
	if (!found) {
		cfi = dwfl_module_dwarf_cfi(debug, &bias);
		good = read_table(c, cfi, address - bias, ret, &found);
	}
	return good;
}

/* Learn the rules of a walk. True: at least one was new. */
static bool learn_rules(struct ins_walk_cache *c, const struct ins_walk *walk)
{
	bool learned = false;
	struct rule *slot;
	unsigned i;

	for (i = 0; i < walk->count && make_room(c); i++) {
		struct rule r = {.pc = walk->pc[i], .returned = i > 0};

		slot = slot_of(c, r.pc, r.returned);
		if (slot->cfa != CFA_UNKNOWN)
			continue;
		if (!read_rule(c, &r))
			r.cfa = CFA_COMPLEX;
		*slot = r;
		c->used++;
		learned = true;
	}
	return learned;
}

/* Check that the rules lead where the unwinder went. A rule that does not is disabled. */
static void prove(struct ins_walk_cache *c, const struct ins_fiber *fiber,
		  const struct ins_walk *walk)
{
	struct ins_walk *mine = &c->proof;
	enum end end = follow(c, fiber, mine);
	unsigned i = 0;

	while (i < mine->count && i < walk->count && mine->pc[i] == walk->pc[i])
		i++;
	if (end == END_WHOLE && i == walk->count && i == mine->count)
		return;
	if (end == END_NO_RULE && i == mine->count)
		return;
	/* Frame i is the first that differs or is missing: the rule of frame i - 1 is wrong. */
	if (i > 0)
		slot_of(c, walk->pc[i - 1], i > 1)->cfa = CFA_COMPLEX;
}

void ins_walk_cache_learn(struct ins_walk_cache *cache, const struct ins_fiber *fiber,
			  const struct ins_walk *walk)
{
	if (cache->port && fiber->stack && learn_rules(cache, walk))
		prove(cache, fiber, walk);
}
