/* SPDX-License-Identifier: MIT */
/*
 * call_site.c - find what the debug information says of one call
 *
 * The entry is searched in the whole caller, which may be large, so the search is limited.
 *
 * The call must be shown to be one of the callee. If the called function ended in a tail call, the
 * stack looks as if the callee of the tail call had been called directly. For the same reason the
 * callee must not reach itself by tail calls: it would have run more than once, and only the
 * arguments of the first call are known. If the target of one of these tail calls is unknown,
 * nothing is used.
 */
#include "inspect/values/call_site.h"

#include <dwarf.h>
#include <string.h>

#define DEPTH	24
#define ENTRIES 20000
#define TAILS	16

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

/* The name that is visible to other files. */
static const char *outer_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	if (!dwarf_hasattr_integrate(die, DW_AT_external))
		return NULL;
	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr))
		return dwarf_formstring(&attr);
	return dwarf_diename(die);
}

static bool refers_to(Dwarf_Die *die, const Dwarf_Die *origin)
{
	static const unsigned by[] = {DW_AT_abstract_origin, DW_AT_specification};
	Dwarf_Attribute attr;
	Dwarf_Die other;
	size_t i;

	for (i = 0; i < sizeof by / sizeof by[0]; i++)
		if (dwarf_attr(die, by[i], &attr) && dwarf_formref_die(&attr, &other) &&
		    other.addr == origin->addr)
			return true;
	return false;
}

static bool calls(Dwarf_Die *site, Dwarf_Die *callee)
{
	Dwarf_Attribute attr;
	Dwarf_Die called;
	const char *a, *b;

	if (!dwarf_attr(site, DW_AT_call_origin, &attr) &&
	    !dwarf_attr(site, DW_AT_abstract_origin, &attr))
		return false;
	if (!dwarf_formref_die(&attr, &called))
		return false;
	if (called.addr == callee->addr)
		return true;
	if (refers_to(callee, &called))
		return true;
	a = outer_name(&called);
	b = outer_name(callee);
	return a && b && strcmp(a, b) == 0;
}

/* -- tail calls -- */

/* The functions that a function may reach by tail calls, itself first. */
struct tails {
	Dwarf_Die at[TAILS];
	unsigned count;
	unsigned left; /* entries that may still be read */
};

/* Find the entry that has the function's code, among those of its unit. */
static bool body_of(Dwarf_Die *function, unsigned *left, Dwarf_Die *ret)
{
	Dwarf_Die unit;

	*ret = *function;
	if (dwarf_hasattr(function, DW_AT_low_pc) || dwarf_hasattr(function, DW_AT_ranges))
		return true;
	if (!dwarf_diecu(function, &unit, NULL, NULL) || dwarf_child(&unit, ret) != 0)
		return false;
	while (*left) {
		--*left;
		if (dwarf_tag(ret) == DW_TAG_subprogram && refers_to(ret, function))
			return true;
		if (dwarf_siblingof(ret, ret) != 0)
			return false;
	}
	return false;
}

/*
 * Add the target of a tail call. False: the target is the first function itself, is unknown, or
 * there is no room.
 */
static bool add_tail(struct tails *t, Dwarf_Die *site)
{
	Dwarf_Attribute attr;
	Dwarf_Die called, body;
	unsigned i;

	if (!dwarf_attr(site, DW_AT_call_origin, &attr) &&
	    !dwarf_attr(site, DW_AT_abstract_origin, &attr))
		return false;
	if (!dwarf_formref_die(&attr, &called) || !body_of(&called, &t->left, &body))
		return false;
	for (i = 0; i < t->count; i++)
		if (t->at[i].addr == body.addr)
			return i > 0;
	if (t->count == TAILS)
		return false;
	t->at[t->count++] = body;
	return true;
}

static bool add_tails(struct tails *t, Dwarf_Die *in, unsigned depth)
{
	Dwarf_Die die;

	if (depth == DEPTH)
		return false;
	if (dwarf_child(in, &die) != 0)
		return true;
	do {
		int tag = dwarf_tag(&die);

		if (!t->left)
			return false;
		t->left--;
		if ((dwarf_hasattr(&die, DW_AT_call_tail_call) ||
		     dwarf_hasattr(&die, DW_AT_GNU_tail_call)) &&
		    !add_tail(t, &die))
			return false;
		if ((tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) &&
		    !add_tails(t, &die, depth + 1))
			return false;
	} while (dwarf_siblingof(&die, &die) == 0);
	return true;
}

static bool called_once(Dwarf_Die *callee)
{
	struct tails t = {.at = {*callee}, .count = 1, .left = ENTRIES};
	unsigned i;

	for (i = 0; i < t.count; i++)
		if (!add_tails(&t, &t.at[i], 0))
			return false;
	return true;
}

/* -- parameters of a call -- */

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
	    !called_once(callee) || dwarf_child(&site, ret) != 0)
		return false;
	do {
		if (is_for(ret, number))
			return true;
	} while (++n < 64 && dwarf_siblingof(ret, ret) == 0);
	return false;
}
