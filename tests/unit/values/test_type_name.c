/* SPDX-License-Identifier: MIT */
/* test_type_name.c - names of types, and the type that a name stands for */
#include "one_values.h"
#include "types.h"

static char text[400];

static void test_names_of_types_are_as_c_writes_them(void **state)
{
	static const struct {
		const char *function, *name, *type;
	} expected[] = {
		{"leaf", "text", "const char *const"},
		{"leaf", "call", "int (*)()"},
		{"leaf", "flag", "_Bool"},
		{"middle", "at", "struct point *"},
		{"middle", "array", "volatile int [5]"},
		{"middle", "colour", "enum colour"},
		{"enter", "arg", "void *"},
		{"middle", "huge", "uint64_t"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof expected / sizeof expected[0]; i++) {
		struct ins_strbuf line = ins_strbuf(text, sizeof text);
		Dwarf_Die type = types_in(values, expected[i].function, expected[i].name);

		ins_type_name(&type, &line);
		assert_string_equal(text, expected[i].type);
	}
}

static void test_a_name_that_does_not_fit_is_cut(void **state)
{
	Dwarf_Die type = types_in(values, "leaf", "text");
	size_t size;

	(void)state;
	for (size = 1; size < 20; size++) {
		struct ins_strbuf line = ins_strbuf(text, size);

		memset(text + size, 'x', 20);
		ins_type_name(&type, &line);
		assert_true(strlen(text) < size && text[size] == 'x');
	}
}

static void test_what_is_behind_a_name_is_found(void **state)
{
	Dwarf_Die huge = types_in(values, "middle", "huge"), bare;
	Dwarf_Die array = types_in(values, "middle", "array");

	(void)state;
	assert_int_equal(dwarf_tag(&huge), DW_TAG_typedef);
	assert_true(ins_type_strip(&huge, &bare));
	assert_int_equal(dwarf_tag(&bare), DW_TAG_base_type);
	assert_true(ins_type_strip(&array, &bare));
	assert_int_equal(dwarf_tag(&bare), DW_TAG_array_type);
	assert_int_equal(ins_type_elements(&bare), 5);
	assert_int_equal(ins_type_elements(&huge), -1);
}

static int start(void **state)
{
	(void)state;
	return one_values("values-plain", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_of_types_are_as_c_writes_them),
		cmocka_unit_test(test_a_name_that_does_not_fit_is_cut),
		cmocka_unit_test(test_what_is_behind_a_name_is_found),
	};

	return HEAD_RUN(tests, start, one_values_end);
}
