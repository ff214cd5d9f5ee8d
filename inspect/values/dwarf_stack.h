/* SPDX-License-Identifier: MIT */
/*
 * dwarf_stack.h - the stack of numbers of a DWARF expression
 *
 * Integers only: each is kept in 64 bits with the size and sign of its type, so a conversion is a
 * truncation.
 */
#ifndef INS_DWARF_STACK_H
#define INS_DWARF_STACK_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#define INS_DWARF_STACK 64

struct ins_dwarf_stack_value {
	uint64_t number;
	unsigned size; /* of its type in bytes; 0: generic type, as long as an address */
	bool is_signed;
};

struct ins_dwarf_stack {
	struct ins_dwarf_stack_value at[INS_DWARF_STACK];
	unsigned count;
};

/* Push a number, truncated to its type. Returns 0; -ENODATA if the stack is full. */
int ins_dwarf_stack_push(struct ins_dwarf_stack *dwarf_stack, uint64_t number, unsigned size,
			 bool is_signed);

/* The top of the stack; NULL: it is empty. */
struct ins_dwarf_stack_value *ins_dwarf_stack_top(struct ins_dwarf_stack *dwarf_stack);

/*
 * Do an operation that needs only the stack: a literal, arithmetic, a comparison, or moving cells.
 * Returns 0; -ENOTSUP: it is none of these; -ENODATA: too few cells, too many, or division by zero.
 */
int ins_dwarf_stack_operate(struct ins_dwarf_stack *dwarf_stack, const Dwarf_Op *op);

/*
 * Find the type that an operation in the attribute's expression names. False: not an integer of at
 * most 64 bits.
 */
bool ins_dwarf_stack_type(Dwarf_Attribute *from, const Dwarf_Op *op, unsigned *ret_size,
			  bool *ret_sign);

/* "DW_OP_convert", or "operation 0x..". Written to buf, which is returned. */
const char *ins_dwarf_stack_name(unsigned op, char *buf, size_t size);

#endif
