/* SPDX-License-Identifier: MIT */
/* type_name.h - types of the debug information: their names, and what stands behind them. */
#ifndef INS_TYPE_NAME_H
#define INS_TYPE_NAME_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "inspect/text/strbuf.h"

/* The type of a variable, a member, a pointer's target. False: it has none, which is void. */
bool ins_type_of(Dwarf_Die *die, Dwarf_Die *ret);

/* The same without const, volatile, typedefs. False also where these go in circles. */
bool ins_type_strip(Dwarf_Die *type, Dwarf_Die *ret);

/* As C writes it: "const char *", "struct conn [4]", "int (*)()". type NULL: void. The text may be hostile. */
void ins_type_name(Dwarf_Die *type, struct ins_strbuf *line);

/* How many elements an array of one dimension has; -1: not known, or it has more dimensions. */
long ins_type_elements(Dwarf_Die *array);

#endif
