/* SPDX-License-Identifier: MIT */
/*
 * location.c - evaluate DWARF expressions
 *
 * libdw decodes an expression into its operations (dwarf_getlocation(3) and related functions) and
 * has no public function that evaluates them. The evaluators inside libdwfl and libunwind serve
 * unwind rules only.
 *
 * The operations work on a stack of integers (dwarf_stack.h). The result says where the parts of a value
 * are (dwarf_pieces.h). Unsupported operations (floating point, vectors, thread-local memory) are
 * reported by name.
 *
 * DW_OP_entry_value is the value of an argument at the entry of the function. It comes from a
 * register that the caller saved, or from the debug information of the call. The latter is used
 * only if the call is known to be one of this very function: after a tail call, the caller on the
 * stack called another function.
 */
#include "inspect/values/location.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "inspect/values/call_site.h"
#include "inspect/values/dwarf_stack.h"

#define STEPS 2000
#define DEPTH 4

struct machine {
	const struct ins_scene *scene;
	Dwarf_Attribute *attr;
	struct ins_dwarf_stack dwarf_stack;
	struct ins_location *ret;
	struct ins_piece
		now; /* where the current piece is; INS_AWAY: the top of the stack is its address */
	bool said;   /* now is set */
	size_t next; /* index of the next operation */
};

static const struct ins_unwound *frame_of(const struct ins_scene *scene)
{
	return scene->at < scene->count ? &scene->frames[scene->at] : NULL;
}

static int push(struct machine *m, uint64_t number)
{
	return ins_dwarf_stack_push(&m->dwarf_stack, number, 0, false);
}

static int push_register(struct machine *m, uint64_t number, uint64_t offset)
{
	uint64_t value;

	if (!ins_scene_register(m->scene, number, &value))
		return -ENODATA;
	return push(m, value + offset);
}

static int push_memory(struct machine *m, uint64_t size, unsigned type_size, bool is_signed)
{
	struct ins_dwarf_stack_value *top = ins_dwarf_stack_top(&m->dwarf_stack);
	uint64_t value = 0;

	if (!top || size > sizeof value ||
	    ins_scene_memory(m->scene->source, m->scene->fiber, top->number, &value, size) < 0)
		return -ENODATA;
	m->dwarf_stack.count--;
	return ins_dwarf_stack_push(&m->dwarf_stack, value, type_size, is_signed);
}

/* -- types -- */

static int typed(struct machine *m, const Dwarf_Op *op)
{
	Dwarf_Attribute constant;
	Dwarf_Block block;
	uint64_t value = 0;
	unsigned size;
	bool sign;

	if (!ins_dwarf_stack_type(m->attr, op, &size, &sign))
		return -ENOTSUP;
	switch (op->atom) {
	case DW_OP_regval_type:
	case DW_OP_GNU_regval_type:
		if (!ins_scene_register(m->scene, op->number, &value))
			return -ENODATA;
		return ins_dwarf_stack_push(&m->dwarf_stack, value, size, sign);
	case DW_OP_deref_type:
	case DW_OP_GNU_deref_type:
		return push_memory(m, op->number, size, sign);
	case DW_OP_const_type:
	case DW_OP_GNU_const_type:
		if (dwarf_getlocation_attr(m->attr, op, &constant) != 0 ||
		    dwarf_formblock(&constant, &block) != 0 || block.length > sizeof value)
			return -ENOTSUP;
		memcpy(&value, block.data, block.length);
		return ins_dwarf_stack_push(&m->dwarf_stack, value, size, sign);
	default:
		if (!ins_dwarf_stack_top(&m->dwarf_stack))
			return -ENODATA;
		value = m->dwarf_stack.at[--m->dwarf_stack.count].number;
		return ins_dwarf_stack_push(&m->dwarf_stack, value, size, sign);
	}
}

/* -- values from elsewhere -- */

static int push_address(struct machine *m, const Dwarf_Op *op)
{
	Dwarf_Attribute at;
	Dwarf_Addr address = op->number;
	Dwarf_Word word;

	if (op->atom == DW_OP_addr)
		return push(m, address + m->scene->bias);
	if (!m->attr || dwarf_getlocation_attr(m->attr, op, &at) != 0)
		return -ENOTSUP;
	if (op->atom == DW_OP_addrx || op->atom == DW_OP_GNU_addr_index)
		return dwarf_formaddr(&at, &address) == 0 ? push(m, address + m->scene->bias)
							  : -ENOTSUP;
	if (dwarf_formaddr(&at, &address) == 0)
		return push(m, address);
	return dwarf_formudata(&at, &word) == 0 ? push(m, word) : -ENOTSUP;
}

/* Push the value of another expression. */
static int push_value(struct machine *m, const struct ins_scene *scene, Dwarf_Attribute *attr)
{
	struct ins_location where;
	uint64_t value = 0, fault;
	bool known[sizeof value];
	unsigned op = 0;
	int rc = ins_location_of(scene, attr, &where, &op);

	if (rc < 0)
		return rc;
	/* Frame bases and call parameters are values: an address stands for itself. */
	if (where.count == 1 && where.piece[0].where == INS_MEMORY)
		return push(m, where.piece[0].number);
	rc = ins_location_fetch(scene, &where, (unsigned char *)&value, known, sizeof value,
				&fault);
	return rc < 0 ? -ENODATA : push(m, value);
}

/* Push what the caller's debug information says of the argument's register at this call. */
static int push_said(struct machine *m, const struct ins_scene *outer, uint64_t number)
{
	Dwarf_Addr pc = frame_of(outer)->registers.pc - outer->bias;
	Dwarf_Attribute attr;
	Dwarf_Die parameter;

	if (!ins_call_site_parameter(outer->function, pc, m->scene->function, number, &parameter))
		return -ENODATA;
	if (!dwarf_attr(&parameter, DW_AT_call_value, &attr) &&
	    !dwarf_attr(&parameter, DW_AT_GNU_call_site_value, &attr))
		return -ENODATA;
	return push_value(m, outer, &attr);
}

static int push_entry(struct machine *m, const Dwarf_Op *op)
{
	struct ins_scene outer;
	Dwarf_Die function;
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	uint64_t number, value;
	size_t n;

	if (!m->attr || m->scene->depth >= DEPTH ||
	    dwarf_getlocation_attr(m->attr, op, &attr) != 0 ||
	    dwarf_getlocation(&attr, &ops, &n) != 0 || n != 1)
		return -ENOTSUP;
	if (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31)
		number = ops[0].atom - DW_OP_reg0;
	else if (ops[0].atom == DW_OP_regx)
		number = ops[0].number;
	else
		return -ENOTSUP;
	if (!m->scene->outer || !m->scene->outer(m->scene, &outer, &function))
		return -ENODATA;
	outer.depth = m->scene->depth + 1;
	if (ins_scene_register(&outer, number, &value))
		return push(m, value);
	outer.function = &function;
	return push_said(m, &outer, number);
}

static int push_frame_base(struct machine *m, uint64_t offset)
{
	struct ins_scene scene = *m->scene;
	Dwarf_Attribute base;
	int rc;

	if (!scene.function || scene.depth++ >= DEPTH ||
	    !dwarf_attr_integrate(scene.function, DW_AT_frame_base, &base))
		return -ENOTSUP;
	rc = push_value(m, &scene, &base);
	if (rc == 0)
		ins_dwarf_stack_top(&m->dwarf_stack)->number += offset;
	return rc;
}

static int push_cfa(struct machine *m)
{
	const struct ins_unwound *r = frame_of(m->scene);

	return r && r->has_cfa ? push(m, r->cfa) : -ENODATA;
}

/* -- locations -- */

static int say(struct machine *m, enum ins_where where, uint64_t number)
{
	m->now = (struct ins_piece){.where = where, .number = number};
	m->said = true;
	return 0;
}

static int say_bytes(struct machine *m, const Dwarf_Op *op)
{
	Dwarf_Block block;

	if (!m->attr || dwarf_getlocation_implicit_value(m->attr, op, &block) != 0)
		return -ENOTSUP;
	m->now = (struct ins_piece){.where = INS_BYTES, .bytes = block.data, .size = block.length};
	m->said = true;
	return 0;
}

/* End a piece of the value, or the whole value: size 0. */
static int end_piece(struct machine *m, size_t size)
{
	const struct ins_dwarf_stack_value *top = ins_dwarf_stack_top(&m->dwarf_stack);
	struct ins_piece *p = &m->ret->piece[m->ret->count];

	if (m->ret->count == INS_PIECES)
		return -ENODATA;
	if (!m->said)
		m->now = (struct ins_piece){.where = top ? INS_MEMORY : INS_AWAY,
					    .number = top ? top->number : 0};
	*p = m->now;
	if (size)
		p->size = p->where == INS_BYTES && p->size < size ? p->size : size;
	m->ret->count++;
	m->said = false;
	m->dwarf_stack.count = 0;
	return 0;
}

/* Jump to the operation at the given distance. */
static int jump(struct machine *m, const Dwarf_Op *ops, size_t n, const Dwarf_Op *op)
{
	uint64_t target = op->offset + 3 + op->number;
	size_t i;

	if (op->atom == DW_OP_bra) {
		const struct ins_dwarf_stack_value *top = ins_dwarf_stack_top(&m->dwarf_stack);

		if (!top)
			return -ENODATA;
		m->dwarf_stack.count--;
		if (!top->number)
			return 0;
	}
	for (i = 0; i < n; i++) {
		if (ops[i].offset == target) {
			m->next = i;
			return 0;
		}
	}
	/* The end of the expression is a valid target too. */
	m->next = n;
	return target > ops[n - 1].offset ? 0 : -ENODATA;
}

static int place(struct machine *m, const Dwarf_Op *op)
{
	switch (op->atom) {
	case DW_OP_regx:
		return say(m, INS_REGISTER, op->number);
	case DW_OP_stack_value:
		return m->dwarf_stack.count
			       ? say(m, INS_NUMBER, ins_dwarf_stack_top(&m->dwarf_stack)->number)
			       : -ENODATA;
	case DW_OP_implicit_value:
		return say_bytes(m, op);
	case DW_OP_piece:
		return op->number ? end_piece(m, op->number) : 0;
	case DW_OP_bit_piece:
		return op->number && op->number % 8 == 0 && op->number2 == 0
			       ? end_piece(m, op->number / 8)
			       : -ENOTSUP;
	default:
		if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
			return say(m, INS_REGISTER, op->atom - DW_OP_reg0);
		return -ENOTSUP;
	}
}

static int operate(struct machine *m, const Dwarf_Op *op)
{
	int rc = ins_dwarf_stack_operate(&m->dwarf_stack, op);

	if (rc != -ENOTSUP)
		return rc;
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return push_register(m, op->atom - DW_OP_breg0, op->number);
	switch (op->atom) {
	case DW_OP_nop:
		return 0;
	case DW_OP_bregx:
		return push_register(m, op->number, op->number2);
	case DW_OP_fbreg:
		return push_frame_base(m, op->number);
	case DW_OP_call_frame_cfa:
		return push_cfa(m);
	case DW_OP_addr:
	case DW_OP_addrx:
	case DW_OP_constx:
	case DW_OP_GNU_addr_index:
	case DW_OP_GNU_const_index:
		return push_address(m, op);
	case DW_OP_deref:
		return push_memory(m, 8, 0, false);
	case DW_OP_deref_size:
		return push_memory(m, op->number, 0, false);
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		return push_entry(m, op);
	case DW_OP_regval_type:
	case DW_OP_GNU_regval_type:
	case DW_OP_deref_type:
	case DW_OP_GNU_deref_type:
	case DW_OP_const_type:
	case DW_OP_GNU_const_type:
	case DW_OP_convert:
	case DW_OP_GNU_convert:
	case DW_OP_reinterpret:
	case DW_OP_GNU_reinterpret:
		return typed(m, op);
	default:
		return place(m, op);
	}
}

int ins_location_run(const struct ins_scene *scene, Dwarf_Attribute *attr, const Dwarf_Op *ops,
		     size_t n, struct ins_location *ret, unsigned *ret_op)
{
	struct machine m = {.scene = scene, .attr = attr, .ret = ret};
	unsigned steps;
	int rc = 0;

	ret->count = 0;
	for (steps = 0; m.next < n; steps++) {
		const Dwarf_Op *op = &ops[m.next++];

		*ret_op = op->atom;
		if (steps == STEPS)
			return -ENOTSUP;
		if (op->atom == DW_OP_skip || op->atom == DW_OP_bra)
			rc = jump(&m, ops, n, op);
		else
			rc = operate(&m, op);
		if (rc < 0)
			return rc;
	}
	if (ret->count == 0 && (m.said || m.dwarf_stack.count))
		return end_piece(&m, 0);
	return 0;
}

int ins_location_of(const struct ins_scene *scene, Dwarf_Attribute *attr, struct ins_location *ret,
		    unsigned *ret_op)
{
	const struct ins_unwound *r = frame_of(scene);
	Dwarf_Op *ops = NULL;
	size_t n = 0;
	int found;

	ret->count = 0;
	*ret_op = 0;
	if (!r)
		return -ENODATA;
	found = dwarf_getlocation_addr(attr, r->registers.pc - r->returned - scene->bias, &ops, &n,
				       1);
	/* libdw does not report every damaged list. */
	if (found <= 0)
		return found < 0 ? -ENOTSUP : 0;
	return n && ops ? ins_location_run(scene, attr, ops, n, ret, ret_op) : 0;
}
