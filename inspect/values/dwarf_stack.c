/* SPDX-License-Identifier: MIT */
/* dwarf_stack.c - the stack of numbers of a DWARF expression; location.c says why it is written here */
#include "inspect/values/dwarf_stack.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>

/* Convert the number to its type: truncate, then sign-extend. */
static struct ins_dwarf_stack_value fit(uint64_t number, unsigned size, bool is_signed)
{
	const unsigned bits = size * 8;

	if (bits > 0 && bits < 64) {
		number &= (UINT64_C(1) << bits) - 1;
		if (is_signed && number >> (bits - 1))
			number |= ~UINT64_C(0) << bits;
	}
	return (struct ins_dwarf_stack_value){number, size, is_signed};
}

int ins_dwarf_stack_push(struct ins_dwarf_stack *dwarf_stack, uint64_t number, unsigned size,
			 bool is_signed)
{
	if (dwarf_stack->count == INS_DWARF_STACK)
		return -ENODATA;
	dwarf_stack->at[dwarf_stack->count++] = fit(number, size, is_signed);
	return 0;
}

struct ins_dwarf_stack_value *ins_dwarf_stack_top(struct ins_dwarf_stack *dwarf_stack)
{
	return dwarf_stack->count ? &dwarf_stack->at[dwarf_stack->count - 1] : NULL;
}

static int divide(uint64_t a, uint64_t b, const struct ins_dwarf_stack_value *type, bool rest,
		  uint64_t *ret)
{
	/* Without a type a division is signed and a remainder is unsigned. */
	bool sign = type->size ? type->is_signed : !rest;

	if (!b)
		return -ENODATA;
	if (sign && b == UINT64_MAX)
		*ret = rest ? 0 : 0 - a;
	else if (sign)
		*ret = rest ? (uint64_t)((int64_t)a % (int64_t)b)
			    : (uint64_t)((int64_t)a / (int64_t)b);
	else
		*ret = rest ? a % b : a / b;
	return 0;
}

static bool less(uint64_t a, uint64_t b, const struct ins_dwarf_stack_value *type)
{
	return type->size && !type->is_signed ? a < b : (int64_t)a < (int64_t)b;
}

static int shift(unsigned atom, struct ins_dwarf_stack_value a, uint64_t by, uint64_t *ret)
{
	unsigned bits = a.size ? a.size * 8 : 64;
	uint64_t mask = bits == 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1;
	struct ins_dwarf_stack_value s = fit(a.number, a.size, true);

	if (atom == DW_OP_shra)
		*ret = (uint64_t)((int64_t)s.number >> (by < 63 ? by : 63));
	else if (by >= bits)
		*ret = 0;
	else
		*ret = atom == DW_OP_shl ? a.number << by : (a.number & mask) >> by;
	return 0;
}

static int two(struct ins_dwarf_stack *m, unsigned atom)
{
	struct ins_dwarf_stack_value *a, *b;
	uint64_t x, y, z = 0;
	int rc = 0;

	if (m->count < 2)
		return -ENODATA;
	b = &m->at[--m->count];
	a = b - 1;
	x = a->number;
	y = b->number;
	switch (atom) {
	case DW_OP_and:
		z = x & y;
		break;
	case DW_OP_or:
		z = x | y;
		break;
	case DW_OP_xor:
		z = x ^ y;
		break;
	case DW_OP_plus:
		z = x + y;
		break;
	case DW_OP_minus:
		z = x - y;
		break;
	case DW_OP_mul:
		z = x * y;
		break;
	case DW_OP_div:
		rc = divide(x, y, a, false, &z);
		break;
	case DW_OP_mod:
		rc = divide(x, y, a, true, &z);
		break;
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
		rc = shift(atom, *a, y, &z);
		break;
	default:
		z = atom == DW_OP_eq   ? x == y
		    : atom == DW_OP_ne ? x != y
		    : atom == DW_OP_lt ? less(x, y, a)
		    : atom == DW_OP_gt ? less(y, x, a)
		    : atom == DW_OP_le ? !less(y, x, a)
				       : !less(x, y, a);
		*a = fit(z, 0, false);
		return 0;
	}
	*a = fit(z, a->size, a->is_signed);
	return rc;
}

static int one(struct ins_dwarf_stack *m, const Dwarf_Op *op)
{
	struct ins_dwarf_stack_value *a = ins_dwarf_stack_top(m);
	uint64_t x;

	if (!a)
		return -ENODATA;
	x = a->number;
	switch (op->atom) {
	case DW_OP_abs:
		x = (int64_t)x < 0 ? 0 - x : x;
		break;
	case DW_OP_neg:
		x = 0 - x;
		break;
	case DW_OP_not:
		x = ~x;
		break;
	default:
		x += op->number; /* DW_OP_plus_uconst */
	}
	*a = fit(x, a->size, a->is_signed);
	return 0;
}

static int arrange(struct ins_dwarf_stack *m, const Dwarf_Op *op)
{
	uint64_t depth = op->atom == DW_OP_over ? 1 : op->atom == DW_OP_pick ? op->number : 0;
	struct ins_dwarf_stack_value *top = m->at + m->count, kept;

	switch (op->atom) {
	case DW_OP_drop:
		if (!m->count)
			return -ENODATA;
		m->count--;
		return 0;
	case DW_OP_swap:
	case DW_OP_rot:
		if (m->count < (op->atom == DW_OP_rot ? 3 : 2))
			return -ENODATA;
		kept = top[-1];
		top[-1] = top[-2];
		if (op->atom == DW_OP_rot) {
			top[-2] = top[-3];
			top[-3] = kept;
		} else {
			top[-2] = kept;
		}
		return 0;
	default:
		return depth < m->count ? ins_dwarf_stack_push(m, top[-1 - (int64_t)depth].number,
							       top[-1 - (int64_t)depth].size,
							       top[-1 - (int64_t)depth].is_signed)
					: -ENODATA;
	}
}

int ins_dwarf_stack_operate(struct ins_dwarf_stack *dwarf_stack, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return ins_dwarf_stack_push(dwarf_stack, op->atom - DW_OP_lit0, 0, false);
	switch (op->atom) {
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		return ins_dwarf_stack_push(dwarf_stack, op->number, 0, false);
	case DW_OP_dup:
	case DW_OP_drop:
	case DW_OP_over:
	case DW_OP_pick:
	case DW_OP_swap:
	case DW_OP_rot:
		return arrange(dwarf_stack, op);
	case DW_OP_abs:
	case DW_OP_neg:
	case DW_OP_not:
	case DW_OP_plus_uconst:
		return one(dwarf_stack, op);
	case DW_OP_and:
	case DW_OP_div:
	case DW_OP_minus:
	case DW_OP_mod:
	case DW_OP_mul:
	case DW_OP_or:
	case DW_OP_plus:
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
	case DW_OP_xor:
	case DW_OP_eq:
	case DW_OP_ge:
	case DW_OP_gt:
	case DW_OP_le:
	case DW_OP_lt:
	case DW_OP_ne:
		return two(dwarf_stack, op->atom);
	default:
		return -ENOTSUP;
	}
}

bool ins_dwarf_stack_type(Dwarf_Attribute *from, const Dwarf_Op *op, unsigned *ret_size,
			  bool *ret_sign)
{
	Dwarf_Attribute attr;
	Dwarf_Word encoding;
	Dwarf_Die die;
	int size;

	*ret_size = 0;
	*ret_sign = false;
	if ((op->atom == DW_OP_convert || op->atom == DW_OP_GNU_convert ||
	     op->atom == DW_OP_reinterpret || op->atom == DW_OP_GNU_reinterpret) &&
	    op->number == 0)
		return true;
	if (!from || dwarf_getlocation_die(from, op, &die) != 0 ||
	    dwarf_tag(&die) != DW_TAG_base_type || !dwarf_attr(&die, DW_AT_encoding, &attr) ||
	    dwarf_formudata(&attr, &encoding) != 0)
		return false;
	size = dwarf_bytesize(&die);
	if (size < 1 || size > 8 || encoding == DW_ATE_float || encoding == DW_ATE_complex_float ||
	    encoding == DW_ATE_decimal_float || encoding == DW_ATE_imaginary_float)
		return false;
	*ret_size = (unsigned)size;
	*ret_sign = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
	return true;
}

const char *ins_dwarf_stack_name(unsigned op, char *buf, size_t size)
{
#define NAME(x)       \
	{             \
		x, #x \
	}
	static const struct {
		unsigned op;
		const char *name;
	} names[] = {
		NAME(DW_OP_fbreg),
		NAME(DW_OP_push_object_address),
		NAME(DW_OP_call2),
		NAME(DW_OP_call4),
		NAME(DW_OP_call_ref),
		NAME(DW_OP_form_tls_address),
		NAME(DW_OP_bit_piece),
		NAME(DW_OP_implicit_pointer),
		NAME(DW_OP_entry_value),
		NAME(DW_OP_const_type),
		NAME(DW_OP_regval_type),
		NAME(DW_OP_deref_type),
		NAME(DW_OP_convert),
		NAME(DW_OP_reinterpret),
		NAME(DW_OP_GNU_push_tls_address),
		NAME(DW_OP_GNU_implicit_pointer),
		NAME(DW_OP_GNU_entry_value),
		NAME(DW_OP_GNU_const_type),
		NAME(DW_OP_GNU_regval_type),
		NAME(DW_OP_GNU_deref_type),
		NAME(DW_OP_GNU_convert),
		NAME(DW_OP_GNU_reinterpret),
		NAME(DW_OP_GNU_parameter_ref),
		NAME(DW_OP_GNU_variable_value),
	};
#undef NAME
	size_t i;

	for (i = 0; i < sizeof names / sizeof names[0]; i++)
		if (names[i].op == op)
			return names[i].name;
	snprintf(buf, size, "operation 0x%x", op);
	return buf;
}
