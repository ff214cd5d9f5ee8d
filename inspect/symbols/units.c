/* SPDX-License-Identifier: MIT */
/*
 * units.c - find the compilation unit that has the code at an address
 *
 * libdw looks it up in .debug_aranges, which gcc writes and clang does not. For code of a unit
 * without aranges, libdw finds no unit or the unit before it. So the unit that libdw finds is
 * checked for the address. If it does not have it, the search uses the ranges in the units
 * themselves, which are read once.
 */
#include "inspect/symbols/units.h"

#include <dwarf.h>
#include <stdint.h>
#include <stdlib.h>

#define RANGES_MAX (1u << 20)

struct range {
	Dwarf_Addr low, high;
	Dwarf_Die *unit; /* libdwfl's */
};

struct ins_units {
	struct ins_units *next;
	Dwfl_Module *module;
	Dwarf_Addr bias;
	struct range *at; /* sorted by low */
	size_t count, room;
};

void ins_units_free(struct ins_units *units)
{
	while (units) {
		struct ins_units *next = units->next;

		free(units->at);
		free(units);
		units = next;
	}
}

static bool add(struct ins_units *units, struct range range)
{
	if (units->count == units->room) {
		size_t room = units->room ? units->room * 2 : 64;
		struct range *at = room > RANGES_MAX ? NULL : realloc(units->at, room * sizeof *at);

		if (!at)
			return false;
		units->at = at;
		units->room = room;
	}
	units->at[units->count++] = range;
	return true;
}

static int by_low(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

static void read_ranges(struct ins_units *units)
{
	Dwarf_Addr base, low, high;
	Dwarf_Die *unit = NULL;
	bool room = true;

	while (room && (unit = dwfl_module_nextcu(units->module, unit, &units->bias))) {
		ptrdiff_t at = 0;

		/* Ranges that the linker discarded are at address 0, or end before they start. */
		while (room && (at = dwarf_ranges(unit, at, &base, &low, &high)) > 0)
			room = !low || low >= high || add(units, (struct range){low, high, unit});
	}
	if (units->count)
		qsort(units->at, units->count, sizeof *units->at, by_low);
}

static struct ins_units *units_of(struct ins_units **units, Dwfl_Module *module)
{
	struct ins_units *u = *units;

	while (u && u->module != module)
		u = u->next;
	if (u)
		return u;
	u = calloc(1, sizeof *u);
	if (!u)
		return NULL;
	u->module = module;
	u->next = *units;
	*units = u;
	read_ranges(u);
	return u;
}

/* The full unit of a skeleton, or the unit itself. */
static void whole(Dwarf_Die *unit, Dwarf_Die *ret)
{
	uint8_t type;
	Dwarf_Die rest;

	*ret = *unit;
	if (dwarf_cu_info(unit->cu, NULL, &type, NULL, &rest, NULL, NULL, NULL) == 0 &&
	    type == DW_UT_skeleton && rest.addr)
		*ret = rest;
}

bool ins_units_search(struct ins_units **units, Dwfl_Module *module, Dwarf_Addr address,
		      Dwarf_Die *ret, Dwarf_Addr *ret_bias)
{
	struct ins_units *u = units_of(units, module);
	size_t low = 0, high = u ? u->count : 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (u->at[mid].low <= address - u->bias)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || address - u->bias >= u->at[low - 1].high)
		return false;
	whole(u->at[low - 1].unit, ret);
	*ret_bias = u->bias;
	return true;
}

bool ins_units_find(struct ins_units **units, Dwfl_Module *module, Dwarf_Addr address,
		    Dwarf_Die *ret, Dwarf_Addr *ret_bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(module, address, ret_bias);

	if (!unit || dwarf_haspc(unit, address - *ret_bias) == 0)
		return ins_units_search(units, module, address, ret, ret_bias);
	whole(unit, ret);
	return true;
}
