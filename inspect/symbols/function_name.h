/* SPDX-License-Identifier: MIT */
/* function_name.h - what a function is called by who wrote it */
#ifndef INS_FUNCTION_NAME_H
#define INS_FUNCTION_NAME_H

#include <elfutils/libdw.h>

/* The name that a mangled one stands for, or a copy of one that is not. Owned; NULL for NULL, or without memory. */
char *ins_demangled(const char *name);

/*
 * What the debug information calls the function, inlined or not, that die describes. symbol: the name in a symbol table of
 * exactly that code, or NULL. Owned; NULL when it has none.
 */
char *ins_function_name(Dwarf_Die *die, const char *symbol);

#endif
