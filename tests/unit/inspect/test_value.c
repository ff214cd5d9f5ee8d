/* SPDX-License-Identifier: MIT */
/*
 * test_value.c - bytes by their type, as the fixture's debug information has it
 *
 * The bytes are ours to choose: missing, cut, and such as no program would write.
 */
#include <dwarf.h>

#include "inspect/debug.h"
#include "inspect/type_name.h"
#include "inspect/value.h"
#include "values.h"

static struct values *values;
static unsigned char bytes[INS_VALUE_BYTES];
static bool known[INS_VALUE_BYTES];
static char text[400];

/* The entry among those inside of that name, and of that kind, 0: any. */
static bool inside(Dwarf_Die *of, int tag, const char *name, Dwarf_Die *ret)
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

/* The type of a variable of the fixture's function. */
static Dwarf_Die type_in(const char *function, const char *name)
{
	const struct ins_walk *walk = &values->at[0].walk;
	Dwarf_Die in = {0}, variable, ret;
	unsigned i;

	for (i = 1; i < walk->count; i++) {
		uint64_t at = walk->pc[i] - 1;
		struct ins_module *m = ins_modules_find(values->source->modules, at);
		Dwarf_Addr bias;
		Dwarf_Die *cu = dwfl_module_addrdie(ins_debug_module(values->source->modules, m),
						    at, &bias);

		if (cu && inside(cu, DW_TAG_subprogram, function, &in) &&
		    inside(&in, 0, name, &variable) && ins_type_of(&variable, &ret))
			return ret;
	}
	fail_msg("no %s in %s", name, function);
	return in;
}

static bool put(Dwarf_Die type, size_t size)
{
	const struct ins_value value = {values->source, &values->at[0].fiber, bytes, known, size};
	struct ins_line line = ins_line(text, sizeof text);

	return ins_value_put(&value, &type, &line);
}

static void all_known(void)
{
	memset(bytes, 0, sizeof bytes);
	memset(known, true, sizeof known);
}

static void test_missing_bytes_are_no_number(void **state)
{
	Dwarf_Die number = type_in("leaf", "number"), fraction = type_in("leaf", "fraction");

	(void)state;
	all_known();
	bytes[0] = 0xfe;
	memset(bytes + 1, 0xff, 3);
	assert_int_equal(ins_value_size(&number), 4);
	assert_true(put(number, 4));
	assert_string_equal(text, "-2");
	known[3] = false;
	assert_false(put(number, 4));
	assert_string_equal(text, "<optimized out>");
	known[3] = true;
	assert_false(put(number, 3));
	assert_string_equal(text, "<optimized out>");
	known[6] = false;
	assert_false(put(fraction, 8));
	assert_string_equal(text, "<optimized out>");
}

static void test_members_are_each_there_or_not(void **state)
{
	Dwarf_Die point = type_in("enter", "point");

	(void)state;
	all_known();
	bytes[0] = 3;
	bytes[4] = 4;
	bytes[8] = 5 | (0x1f & -9) << 3;
	known[5] = false;
	assert_true(put(point, ins_value_size(&point)));
	assert_string_equal(text, "{x = 3, y = <optimized out>, low = 5, high = -9, inside = "
				  "{...}, label = 0x0}");
	/* The bytes end within it. */
	assert_true(put(point, 4));
	assert_non_null(strstr(text, "{x = 3, y = <optimized out>, low = <optimized out>"));
}

static void test_what_pointers_lead_to_may_be_nothing(void **state)
{
	Dwarf_Die string = type_in("leaf", "text"), call = type_in("leaf", "call");
	uint64_t code = values->at[0].walk.pc[values_frame(values, 0, "leaf")];

	(void)state;
	all_known();
	assert_true(put(string, 8));
	assert_string_equal(text, "0x0");
	bytes[0] = 8;
	assert_true(put(string, 8));
	assert_string_equal(text, "0x8");
	assert_true(put(call, 8));
	assert_string_equal(text, "0x8");
	memcpy(bytes, &code, sizeof code);
	assert_true(put(call, 8));
	assert_non_null(strchr(text, '<'));
	/* A string that does not end, of characters without a picture. */
	memset(values->at[0].stack, 7, 400);
	memcpy(bytes, &values->at[0].fiber.row.sp, 8);
	assert_true(put(string, 8));
	assert_non_null(strstr(text, "\"\\x07\\x07"));
	assert_non_null(strstr(text, "\"..."));
	assert_true(strlen(text) < sizeof text);
}

static void test_enumerators_have_names_and_other_numbers_are_numbers(void **state)
{
	Dwarf_Die colour = type_in("middle", "colour");

	(void)state;
	all_known();
	bytes[0] = 2;
	assert_true(put(colour, 4));
	assert_string_equal(text, "GREEN");
	memset(bytes, 0xff, 4);
	bytes[0] = 0xf9;
	assert_true(put(colour, 4));
	assert_string_equal(text, "BLUE");
	bytes[0] = 0xf0;
	assert_true(put(colour, 4));
	assert_string_equal(text, "-16");
}

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
		struct ins_line line = ins_line(text, sizeof text);
		Dwarf_Die type = type_in(expected[i].function, expected[i].name);

		ins_type_name(&type, &line);
		assert_string_equal(text, expected[i].type);
	}
}

static int start(void **state)
{
	(void)state;
	values = values_begin("values-plain", NULL);
	return values ? 0 : -1;
}

static int stop(void **state)
{
	(void)state;
	values_end(values);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing_bytes_are_no_number),
		cmocka_unit_test(test_members_are_each_there_or_not),
		cmocka_unit_test(test_enumerators_have_names_and_other_numbers_are_numbers),
		cmocka_unit_test(test_names_of_types_are_as_c_writes_them),
		cmocka_unit_test(test_what_pointers_lead_to_may_be_nothing),
	};

	return HEAD_RUN(tests, start, stop);
}
