/* SPDX-License-Identifier: MIT */
/* types.h - find entries of a fixture's debug information by name */
#ifndef TEST_INSPECT_TYPES_H
#define TEST_INSPECT_TYPES_H

#include <dwarf.h>

#include "inspect/elf/debug.h"
#include "inspect/values/type_name.h"
#include "values.h"

/* The child entry of that name, and of that tag unless it is 0. */
static inline bool types_inside(Dwarf_Die *of, int tag, const char *name, Dwarf_Die *ret)
{
	if (dwarf_child(of, ret) != 0)
		return false;
	do {
		const char *is = dwarf_diename(ret);

		if (is && strcmp(is, name) == 0 && (!tag || dwarf_tag(ret) == tag))
			return true;
	} while (dwarf_siblingof(ret, ret) == 0);
	return false;
}

/* The fixture's function of that name, if it has code. */
static inline Dwarf_Die types_function(struct values *v, const char *name, Dwarf_Addr *ret_bias)
{
	const struct ins_walk *walk = &v->at[0].walk;
	Dwarf_Die ret = {0};
	unsigned i;

	for (i = 1; i < walk->count; i++) {
		uint64_t at = walk->pc[i] - 1;
		struct ins_module *m = ins_modules_find(v->source->modules, at);
		Dwarf_Die *cu =
			dwfl_module_addrdie(ins_debug_module(v->source->modules, m), at, ret_bias);

		if (cu && types_inside(cu, DW_TAG_subprogram, name, &ret) &&
		    dwarf_hasattr(&ret, DW_AT_low_pc))
			return ret;
	}
	fail_msg("no %s", name);
	return ret;
}

/* The type of a variable of the fixture's function. */
static inline Dwarf_Die types_in(struct values *v, const char *function, const char *name)
{
	Dwarf_Addr bias;
	Dwarf_Die in = types_function(v, function, &bias), variable, ret = {0};

	assert_true(types_inside(&in, 0, name, &variable));
	assert_true(ins_type_of(&variable, &ret));
	return ret;
}

#endif
