/* SPDX-License-Identifier: MIT */
/*
 * call_site.c - what the debug information says of one call
 *
 * An entry is looked for in all of the caller's function, which may be large, so the search is bounded. That the call is one
 * of the callee has to be seen: a function that ends in a call of another one leaves the stack as if that one had been called.
 */
#include "inspect/call_site.h"

#include <dwarf.h>
#include <string.h>

#define DEPTH	24
#define ENTRIES 20000

static bool returns_to(Dwarf_Die *site, Dwarf_Addr pc)
{
	int tag = dwarf_tag(site);
	Dwarf_Attribute attr;
	Dwarf_Addr at;

	if (tag == DW_TAG_call_site && dwarf_attr(site, DW_AT_call_return_pc, &attr))
		return dwarf_formaddr(&attr, &at) == 0 && at == pc;
	if (tag == DW_TAG_GNU_call_site && dwarf_attr(site, DW_AT_low_pc, &attr))
		return dwarf_formaddr(&attr, &at) == 0 && at == pc;
	return false;
}

static bool find_site(Dwarf_Die *in, Dwarf_Addr pc, unsigned depth, unsigned *left, Dwarf_Die *ret)
{
	Dwarf_Die die;

	if (depth == DEPTH || dwarf_child(in, &die) != 0)
		return false;
	do {
		int tag = dwarf_tag(&die);

		if (!*left)
			return false;
		--*left;
		if (returns_to(&die, pc)) {
			*ret = die;
			return true;
		}
		if ((tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) &&
		    find_site(&die, pc, depth + 1, left, ret))
			return true;
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

/* The name by which other files know it. */
static const char *outer_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	if (!dwarf_hasattr_integrate(die, DW_AT_external))
		return NULL;
	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr))
		return dwarf_formstring(&attr);
	return dwarf_diename(die);
}

static bool calls(Dwarf_Die *site, Dwarf_Die *callee)
{
	static const unsigned same[] = {DW_AT_abstract_origin, DW_AT_specification};
	Dwarf_Attribute attr;
	Dwarf_Die called, other;
	const char *a, *b;
	size_t i;

	if (!dwarf_attr(site, DW_AT_call_origin, &attr) &&
	    !dwarf_attr(site, DW_AT_abstract_origin, &attr))
		return false;
	if (!dwarf_formref_die(&attr, &called))
		return false;
	if (called.addr == callee->addr)
		return true;
	for (i = 0; i < sizeof same / sizeof same[0]; i++)
		if (dwarf_attr(callee, same[i], &attr) && dwarf_formref_die(&attr, &other) &&
		    other.addr == called.addr)
			return true;
	a = outer_name(&called);
	b = outer_name(callee);
	return a && b && strcmp(a, b) == 0;
}

static bool is_for(Dwarf_Die *parameter, uint64_t number)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr(parameter, DW_AT_location, &attr) ||
	    dwarf_getlocation(&attr, &ops, &n) != 0 || n != 1)
		return false;
	if (ops[0].atom == DW_OP_regx)
		return ops[0].number == number;
	return ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31 &&
	       (uint64_t)(ops[0].atom - DW_OP_reg0) == number;
}

bool ins_call_site_parameter(Dwarf_Die *caller, Dwarf_Addr pc, Dwarf_Die *callee, uint64_t number,
			     Dwarf_Die *ret)
{
	unsigned left = ENTRIES, n = 0;
	Dwarf_Die site;

	if (!callee || !find_site(caller, pc, 0, &left, &site) || !calls(&site, callee) ||
	    dwarf_child(&site, ret) != 0)
		return false;
	do {
		if (is_for(ret, number))
			return true;
	} while (++n < 64 && dwarf_siblingof(ret, ret) == 0);
	return false;
}
