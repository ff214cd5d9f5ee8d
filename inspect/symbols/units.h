/* SPDX-License-Identifier: MIT */
/* units.h - find the compilation unit that has the code at an address */
#ifndef INS_UNITS_H
#define INS_UNITS_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>

/* The units read of each module; NULL is empty. Free before the modules' debug session. */
struct ins_units;

void ins_units_free(struct ins_units *units);

/*
 * Find the unit of module that has the code at address. Its own addresses are lower by *ret_bias.
 * If the module has only a skeleton, the split unit is returned if it can be read. False: no unit
 * has it.
 */
bool ins_units_find(struct ins_units **units, Dwfl_Module *module, Dwarf_Addr address,
		    Dwarf_Die *ret, Dwarf_Addr *ret_bias);

/* Find the unit by the ranges in the units alone, without .debug_aranges. */
bool ins_units_search(struct ins_units **units, Dwfl_Module *module, Dwarf_Addr address,
		      Dwarf_Die *ret, Dwarf_Addr *ret_bias);

#endif
