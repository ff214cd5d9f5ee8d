/* SPDX-License-Identifier: MIT */
/* call_site.h - find what the debug information says of one call: the values of its arguments */
#ifndef INS_CALL_SITE_H
#define INS_CALL_SITE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Find the entry (DW_TAG_call_site_parameter) for DWARF's register `number` in the call of `callee`
 * by `caller` that returns to pc, an address as in the caller's debug information. False: there is
 * none, or the call is one of another function than callee, or its target is known only at run
 * time.
 */
bool ins_call_site_parameter(Dwarf_Die *caller, Dwarf_Addr pc, Dwarf_Die *callee, uint64_t number,
			     Dwarf_Die *ret);

#endif
