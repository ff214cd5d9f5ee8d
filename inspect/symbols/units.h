/* SPDX-License-Identifier: MIT */
/* units.h - which compilation unit has the code at an address */
#ifndef INS_UNITS_H
#define INS_UNITS_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>

/* What was read of each module; NULL is empty. Goes before the modules' debug session does. */
struct ins_units;

void ins_units_free(struct ins_units *units);

/*
 * The unit of module that has the code at address. Its own addresses are lower by *ret_bias. Where only a skeleton is in the
 * module, the unit in its file of the rest when that is to be had. False: no unit says that it has it.
 */
bool ins_units_find(struct ins_units **units, Dwfl_Module *module, Dwarf_Addr address,
		    Dwarf_Die *ret, Dwarf_Addr *ret_bias);

/* The same, by what the units say of themselves alone. */
bool ins_units_search(struct ins_units **units, Dwfl_Module *module, Dwarf_Addr address,
		      Dwarf_Die *ret, Dwarf_Addr *ret_bias);

#endif
