/* SPDX-License-Identifier: MIT */
/*
 * dwarf_stack.h - the stack of numbers that a DWARF expression works on
 *
 * Whole numbers only: each is kept in 64 bits with the size and sign of its type, so that a conversion is a cut.
 */
#ifndef INS_DWARF_STACK_H
#define INS_DWARF_STACK_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#define INS_DWARF_STACK 64

struct ins_dwarf_stack_value {
	uint64_t number;
	unsigned size; /* of its type in bytes; 0: as long as an address, without a type */
	bool is_signed;
};

struct ins_dwarf_stack {
	struct ins_dwarf_stack_value at[INS_DWARF_STACK];
	unsigned count;
};

/* Put a number on top, cut to its type. 0; -ENODATA when the stack is full. */
int ins_dwarf_stack_push(struct ins_dwarf_stack *dwarf_stack, uint64_t number, unsigned size,
			 bool is_signed);

/* The one on top; NULL: there is none. */
struct ins_dwarf_stack_value *ins_dwarf_stack_top(struct ins_dwarf_stack *dwarf_stack);

/*
 * Do an operation that needs nothing but the stack: a literal, arithmetic, a comparison, or moving cells. 0; -ENOTSUP: it is
 * none of these; -ENODATA: there are too few cells, too many, or it divides by zero.
 */
int ins_dwarf_stack_operate(struct ins_dwarf_stack *dwarf_stack, const Dwarf_Op *op);

/* The type that an operation of that attribute's expression names. False: no whole number of at most 64 bits. */
bool ins_dwarf_stack_type(Dwarf_Attribute *from, const Dwarf_Op *op, unsigned *ret_size,
			  bool *ret_sign);

/* "DW_OP_convert", or "operation 0x..": in buf, which is returned. */
const char *ins_dwarf_stack_name(unsigned op, char *buf, size_t size);

#endif
