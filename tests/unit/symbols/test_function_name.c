/* SPDX-License-Identifier: MIT */
/*
 * test_function_name.c - a function is printed by the name that its author wrote
 *
 * The functions are this program's: C, and one whose assembler name is a mangled C++ name. For C++
 * itself see fixtures/maze and scripts/test-matrix.py.
 */
#include <stdlib.h>
#include <string.h>

#include "inspect/symbols/function_name.h"
#include "inspect/symbols/scopes.h"
#include "tests/harness/inspect/own_debug.h"

/* The mangled name of web::server::serve(int). */
void serve(int n) __asm__("_ZN3web6server5serveEi");
__attribute__((noipa)) void serve(int n)
{
	__asm__ volatile("" : : "r"(n));
}

static __attribute__((noipa)) void plain(void)
{
	__asm__ volatile("");
}

static void is_called(void *function, const char *symbol, const char *expected)
{
	Dwarf_Addr bias;
	Dwarf_Die *const unit = dwfl_addrdie(debug, (uintptr_t)function, &bias);
	Dwarf_Die at;
	char *name;

	assert_non_null(unit);
	assert_int_equal(ins_scopes_at(unit, (uintptr_t)function - bias, &at, 1), 1);
	name = ins_function_name(&at, symbol);
	assert_string_equal(name, expected);
	free(name);
}

static void test_names_are_demangled_or_as_they_are(void **state)
{
	static const char *const names[][2] = {
		{"_ZN3web6server5serveEi", "web::server::serve(int)"},
		{"_ZN4maze12_GLOBAL__N_1plERKNS0_6bridgeEP9maze_path",
		 "maze::(anonymous namespace)::operator+(maze::(anonymous namespace)::bridge "
		 "const&, maze_path*)"},
		{"_RNvCs15kBYyAo9fc_5crate4main", "crate::main"},
		{"main", "main"},
		{"_start", "_start"},
		{"_Z", "_Z"},
		{"_ZN9999999999x", "_ZN9999999999x"},
		{"", ""},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof names / sizeof names[0]; i++) {
		char *name = ins_demangled(names[i][0]);

		assert_string_equal(name, names[i][1]);
		free(name);
	}
	assert_null(ins_demangled(NULL));
}

static void test_a_function_of_c_has_the_name_it_was_given(void **state)
{
	(void)state;
	is_called((void *)plain, NULL, "plain");
	/*
	 * The symbol of a clone gives no better name, and a symbol that is not mangled is not used.
	 */
	is_called((void *)plain, "plain.constprop.0", "plain");
	is_called((void *)plain, "_start", "plain");
}

static void test_a_linkage_name_goes_before_everything(void **state)
{
	(void)state;
	is_called((void *)serve, NULL, "web::server::serve(int)");
	is_called((void *)serve, "_ZN5other4nameEv", "web::server::serve(int)");
}

static void test_a_mangled_symbol_says_more_than_a_name_without_scopes(void **state)
{
	(void)state;
	is_called((void *)plain, "_ZN12_GLOBAL__N_15plainEv", "(anonymous namespace)::plain()");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_are_demangled_or_as_they_are),
		cmocka_unit_test(test_a_function_of_c_has_the_name_it_was_given),
		cmocka_unit_test(test_a_linkage_name_goes_before_everything),
		cmocka_unit_test(test_a_mangled_symbol_says_more_than_a_name_without_scopes),
	};

	return HEAD_RUN(tests, own_debug, own_debug_end);
}
