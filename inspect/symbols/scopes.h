/* SPDX-License-Identifier: MIT */
/* scopes.h - the functions and blocks around an address */
#ifndef INS_SCOPES_H
#define INS_SCOPES_H

#include <elfutils/libdw.h>

/*
 * Find the functions, inlined functions and blocks of a unit that have the code at address,
 * innermost first. Returns their number, at most `most`; 0: none. address is the unit's own.
 */
int ins_scopes_at(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die *ret, int most);

#endif
