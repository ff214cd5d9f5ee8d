/* SPDX-License-Identifier: MIT */
/*
 * cells.h - the stack of numbers that a DWARF expression works on
 *
 * Whole numbers only: each is kept in 64 bits with the size and sign of its type, so that a conversion is a cut.
 */
#ifndef INS_CELLS_H
#define INS_CELLS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#define INS_CELLS 64

struct ins_cell {
	uint64_t number;
	unsigned size; /* of its type in bytes; 0: as long as an address, without a type */
	bool is_signed;
};

struct ins_cells {
	struct ins_cell at[INS_CELLS];
	unsigned count;
};

/* Put a number on top, cut to its type. 0; -ENODATA when the stack is full. */
int ins_cells_push(struct ins_cells *cells, uint64_t number, unsigned size, bool is_signed);

/* The one on top; NULL: there is none. */
struct ins_cell *ins_cells_top(struct ins_cells *cells);

/*
 * Do an operation that needs nothing but the stack: a literal, arithmetic, a comparison, or moving cells. 0; -ENOTSUP: it is
 * none of these; -ENODATA: there are too few cells, too many, or it divides by zero.
 */
int ins_cells_do(struct ins_cells *cells, const Dwarf_Op *op);

/* The type that an operation of that attribute's expression names. False: no whole number of at most 64 bits. */
bool ins_cells_type(Dwarf_Attribute *from, const Dwarf_Op *op, unsigned *ret_size, bool *ret_sign);

/* "DW_OP_convert", or "operation 0x..": in buf, which is returned. */
const char *ins_cells_name(unsigned op, char *buf, size_t size);

#endif
