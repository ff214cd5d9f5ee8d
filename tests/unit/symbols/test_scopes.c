/* SPDX-License-Identifier: MIT */
/* test_scopes.c - the functions and blocks around an address of this program */
#include <dwarf.h>
#include <string.h>

#include "inspect/symbols/scopes.h"
#include "tests/harness/inspect/own_debug.h"

#define MOST 32

static volatile uintptr_t here; /* a return address within the innermost function */

static __attribute__((noipa)) void note(void)
{
	here = (uintptr_t)__builtin_return_address(0);
}

static inline __attribute__((always_inline)) void inner(void)
{
	note();
	__asm__ volatile("");
}

static inline __attribute__((always_inline)) void middle(void)
{
	inner();
	__asm__ volatile("");
}

static __attribute__((noipa)) void outer(void)
{
	middle();
	__asm__ volatile("");
}

#ifndef __clang__
/* A nested function: GNU C has them, clang does not. */
static __attribute__((noipa)) uintptr_t around(void)
{
	__attribute__((noipa)) void within(void)
	{
		note();
		__asm__ volatile("");
	}

	within();
	return here;
}
#endif

/* The names of the functions, innermost first, a blank after each; "~" marks inlined ones. */
static const char *functions(uintptr_t pc, int most)
{
	static char names[256];
	Dwarf_Addr bias;
	Dwarf_Die *const unit = dwfl_addrdie(debug, pc, &bias);
	Dwarf_Die at[MOST];
	int i, n;

	assert_non_null(unit);
	n = ins_scopes_at(unit, pc - bias, at, most);
	assert_in_range(n, 0, most);
	names[0] = 0;
	for (i = 0; i < n; i++) {
		if (dwarf_tag(&at[i]) == DW_TAG_inlined_subroutine)
			strcat(names, "~");
		if (dwarf_tag(&at[i]) != DW_TAG_lexical_block)
			strcat(strcat(names, dwarf_diename(&at[i])), " ");
	}
	return names;
}

static void test_what_has_an_address_comes_innermost_first(void **state)
{
	(void)state;
	outer();
	assert_string_equal(functions(here - 1, MOST), "~inner ~middle outer ");
}

#ifndef __clang__
static void test_a_function_of_gnu_c_is_found_inside_of_another(void **state)
{
	(void)state;
	assert_string_equal(functions(around() - 1, MOST), "within ");
}
#endif

static void test_no_more_than_there_is_room_for(void **state)
{
	(void)state;
	outer();
	/* If there is no room for all, the outermost functions are kept. */
	assert_string_equal(functions(here - 1, 2), "~middle outer ");
	assert_string_equal(functions(here - 1, 0), "");
}

static void test_an_address_of_another_unit_is_in_nothing(void **state)
{
	Dwarf_Addr bias;
	Dwarf_Die *const unit = dwfl_addrdie(debug, (uintptr_t)outer, &bias);
	Dwarf_Die at[MOST];

	(void)state;
	assert_int_equal(ins_scopes_at(unit, (uintptr_t)ins_scopes_at - bias, at, MOST), 0);
	assert_int_equal(ins_scopes_at(unit, 0, at, MOST), 0);
	assert_int_equal(ins_scopes_at(unit, UINT64_MAX, at, MOST), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_has_an_address_comes_innermost_first),
#ifndef __clang__
		cmocka_unit_test(test_a_function_of_gnu_c_is_found_inside_of_another),
#endif
		cmocka_unit_test(test_no_more_than_there_is_room_for),
		cmocka_unit_test(test_an_address_of_another_unit_is_in_nothing),
	};

	return HEAD_RUN(tests, own_debug, own_debug_end);
}
