/* SPDX-License-Identifier: MIT */
/*
 * scopes.c - the functions and blocks around an address
 *
 * libdw's dwarf_getscopes() also looks up where an inlined function was written. If that is in
 * another unit, as after link-time optimisation, it leaves the inlined function out. That place is
 * not needed here. So this file follows the entries that have the address down from the unit.
 */
#include "inspect/symbols/scopes.h"

#include <dwarf.h>
#include <stdbool.h>

/* Damaged debug information can contain cycles or endless nesting. */
#define DEPTH_MAX 128
#define LOOKS_MAX (1u << 22)

struct search {
	Dwarf_Addr address;
	bool everywhere; /* search functions without the address too: for nested ones */
	Dwarf_Die *at;	 /* outermost first */
	int count, most;
	unsigned looks;
};

enum kind { NEITHER, CODE, FOLDER };

static enum kind kind_of(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
	case DW_TAG_entry_point:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return CODE;
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return FOLDER;
	default:
		return NEITHER;
	}
}

/* Search parent. Whether an entry in it has the address. */
static bool look_into(struct search *s, Dwarf_Die *parent, int depth)
{
	Dwarf_Die child;
	Dwarf_Off here;

	if (depth == DEPTH_MAX || dwarf_child(parent, &child) != 0)
		return false;
	do {
		enum kind kind = kind_of(&child);

		here = dwarf_dieoffset(&child);
		if (kind == CODE && dwarf_haspc(&child, s->address) > 0) {
			if (s->count == s->most)
				return true;
			s->at[s->count++] = child;
			look_into(s, &child, depth + 1);
			return true;
		}
		if ((kind == FOLDER || (kind == CODE && s->everywhere)) &&
		    look_into(s, &child, depth + 1))
			return true;
	} while (++s->looks < LOOKS_MAX && dwarf_siblingof(&child, &child) == 0 &&
		 dwarf_dieoffset(&child) > here);
	return false;
}

int ins_scopes_at(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die *ret, int most)
{
	struct search s = {.address = address, .at = ret, .most = most};
	int i;

	if (!look_into(&s, unit, 0)) {
		s.everywhere = true;
		look_into(&s, unit, 0);
	}
	for (i = 0; i < s.count / 2; i++) {
		Dwarf_Die other = ret[i];

		ret[i] = ret[s.count - 1 - i];
		ret[s.count - 1 - i] = other;
	}
	return s.count;
}
