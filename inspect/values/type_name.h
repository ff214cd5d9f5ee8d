/* SPDX-License-Identifier: MIT */
/* type_name.h - types in the debug information: their names and their targets */
#ifndef INS_TYPE_NAME_H
#define INS_TYPE_NAME_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "inspect/text/strbuf.h"

/* The type of a variable or a member, or the target of a pointer. False: none, which means void. */
bool ins_type_of(Dwarf_Die *die, Dwarf_Die *ret);

/* The type without const, volatile and typedefs. False also if these form a cycle. */
bool ins_type_strip(Dwarf_Die *type, Dwarf_Die *ret);

/*
 * Write the type as C does: "const char *", "struct conn [4]", "int (*)()". type NULL: void. The
 * text is not escaped for a terminal.
 */
void ins_type_name(Dwarf_Die *type, struct ins_strbuf *line);

/* How many elements an array of one dimension has; -1: unknown, or it has more dimensions. */
long ins_type_elements(Dwarf_Die *array);

#endif
