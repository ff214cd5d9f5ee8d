/* SPDX-License-Identifier: MIT */
/*
 * test_units.c - address ranges from the units, and from the table of address ranges
 *
 * This program was built with the table. For any address of it the units alone must lead to the
 * same unit.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "inspect/symbols/units.h"
#include "tests/harness/inspect/own_debug.h"

static Dwfl_Module *program;
static struct ins_units *units;

static void test_the_units_ranges_lead_where_the_table_does(void **state)
{
	const uintptr_t here = (uintptr_t)ins_units_find;
	unsigned known = 0, other = 0;
	uintptr_t at;

	(void)state;
	for (at = here - 0x2000; at < here + 0x4000; at += 7) {
		Dwarf_Addr bias = 0, own = 0;
		Dwarf_Die *const unit = dwfl_module_addrdie(program, at, &bias);
		Dwarf_Die found;
		const bool is = ins_units_search(&units, program, at, &found, &own);

		if (!unit || dwarf_haspc(unit, at - bias) <= 0) {
			assert_false(is);
			other++;
			continue;
		}
		known++;
		assert_true(is);
		assert_int_equal(own, bias);
		assert_int_equal(dwarf_dieoffset(&found), dwarf_dieoffset(unit));
		assert_true(ins_units_find(&units, program, at, &found, &own));
		assert_int_equal(dwarf_dieoffset(&found), dwarf_dieoffset(unit));
	}
	assert_true(known > 1000);
	print_message("# %u addresses in units, %u in none\n", known, other);
}

static void test_each_function_is_in_its_own_unit(void **state)
{
	static const struct {
		void *at;
		const char *file;
	} expected[] = {
		{(void *)test_each_function_is_in_its_own_unit, "test_units.c"},
		{(void *)ins_units_search, "units.c"},
	};
	Dwarf_Addr bias;
	Dwarf_Die unit;
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		const char *name;

		assert_true(
			ins_units_search(&units, program, (uintptr_t)expected[i].at, &unit, &bias));
		name = strrchr(dwarf_diename(&unit), '/');
		assert_string_equal(name ? name + 1 : dwarf_diename(&unit), expected[i].file);
	}
}

static void test_an_address_of_no_unit_is_in_none(void **state)
{
	static const Dwarf_Addr at[] = {0, 1, INT64_MAX, UINT64_MAX};
	Dwarf_Addr bias;
	Dwarf_Die unit;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof at / sizeof at[0]; i++) {
		assert_false(ins_units_search(&units, program, at[i], &unit, &bias));
		assert_false(ins_units_find(&units, program, at[i], &unit, &bias));
	}
}

static void test_a_module_without_debug_information_has_no_units(void **state)
{
	const uintptr_t inside = getauxval(AT_SYSINFO_EHDR) + 64;
	Dwfl_Module *const vdso = dwfl_addrmodule(debug, inside);
	Dwarf_Addr bias;
	Dwarf_Die unit;

	(void)state;
	assert_non_null(vdso);
	assert_ptr_not_equal(vdso, program);
	assert_false(ins_units_search(&units, vdso, inside, &unit, &bias));
	assert_false(ins_units_find(&units, vdso, inside, &unit, &bias));
	/* An address of the program is still found after one of the vdso. */
	assert_true(ins_units_search(&units, program, (uintptr_t)ins_units_find, &unit, &bias));
}

static int start(void **state)
{
	own_debug(state);
	program = dwfl_addrmodule(debug, (uintptr_t)start);
	return program ? 0 : -1;
}

static int stop(void **state)
{
	ins_units_free(units);
	return own_debug_end(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_units_ranges_lead_where_the_table_does),
		cmocka_unit_test(test_each_function_is_in_its_own_unit),
		cmocka_unit_test(test_an_address_of_no_unit_is_in_none),
		cmocka_unit_test(test_a_module_without_debug_information_has_no_units),
	};

	return HEAD_RUN(tests, start, stop);
}
