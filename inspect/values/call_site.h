/* SPDX-License-Identifier: MIT */
/* call_site.h - what the debug information says of one call: the values that its arguments had. */
#ifndef INS_CALL_SITE_H
#define INS_CALL_SITE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The entry (DW_TAG_call_site_parameter) for what is in DWARF's register `number` when `caller` calls `callee` and the call
 * returns to pc, an address as in the caller's debug information. False: nothing is said, or of a call of another function
 * than callee, or of one that is only known while it runs.
 */
bool ins_call_site_parameter(Dwarf_Die *caller, Dwarf_Addr pc, Dwarf_Die *callee, uint64_t number,
			     Dwarf_Die *ret);

#endif
