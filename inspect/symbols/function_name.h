/* SPDX-License-Identifier: MIT */
/* function_name.h - the name of a function as its source has it */
#ifndef INS_FUNCTION_NAME_H
#define INS_FUNCTION_NAME_H

#include <elfutils/libdw.h>

/* Demangle a name, or copy it if it is not mangled. Owned; NULL for NULL, or without memory. */
char *ins_demangled(const char *name);

/*
 * The name of the function, inlined or not, that die describes. symbol: the name in a symbol table
 * of exactly that code, or NULL. Owned; NULL if it has none.
 */
char *ins_function_name(Dwarf_Die *die, const char *symbol);

#endif
