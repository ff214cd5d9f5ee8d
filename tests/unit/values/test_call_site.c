/* SPDX-License-Identifier: MIT */
/* test_call_site.c - a call site describes that call, and only calls of that function */
#include "inspect/values/call_site.h"
#include "one_values.h"
#include "types.h"

enum { RDI = 5, RSI = 4, R12 = 12 };

static void test_a_call_says_what_its_arguments_were(void **state)
{
	Dwarf_Addr bias;
	Dwarf_Die enter = types_function(values, "enter", &bias);
	Dwarf_Die middle = types_function(values, "middle", &bias);
	Dwarf_Die leaf = types_function(values, "leaf", &bias), said;
	const struct ins_walk *walk = &values->at[0].walk;
	unsigned i = 0;
	size_t n;

	(void)state;
	while (i < walk->count &&
	       strcmp(ins_symbols_at(values->symbols, walk->pc[i], i > 0, &n)->function, "enter") !=
		       0)
		i++;
	assert_true(i < walk->count);
	assert_true(ins_call_site_parameter(&enter, walk->pc[i] - bias, &middle, RDI, &said));
	assert_true(ins_call_site_parameter(&enter, walk->pc[i] - bias, &middle, RSI, &said));
	/*
	 * These are not known: a register without an argument, another place, and a function that
	 * is not called there.
	 */
	assert_false(ins_call_site_parameter(&enter, walk->pc[i] - bias, &middle, R12, &said));
	assert_false(ins_call_site_parameter(&enter, walk->pc[i] - bias + 1, &middle, RDI, &said));
	assert_false(ins_call_site_parameter(&enter, walk->pc[i] - bias, &leaf, RDI, &said));
	assert_false(ins_call_site_parameter(&leaf, walk->pc[i] - bias, &middle, RDI, &said));
	assert_false(ins_call_site_parameter(&enter, walk->pc[i] - bias, NULL, RDI, &said));
}

static int start(void **state)
{
	(void)state;
	return one_values("values", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_call_says_what_its_arguments_were),
	};

	return HEAD_RUN(tests, start, one_values_end);
}
