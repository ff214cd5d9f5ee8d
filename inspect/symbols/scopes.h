/* SPDX-License-Identifier: MIT */
/* scopes.h - the functions and blocks around an address */
#ifndef INS_SCOPES_H
#define INS_SCOPES_H

#include <elfutils/libdw.h>

/*
 * The functions, inlined functions and blocks of a unit that have the code at address, innermost first: how many, at most so
 * many. address is the unit's own. 0: none has it.
 */
int ins_scopes_at(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die *ret, int most);

#endif
