/* SPDX-License-Identifier: MIT */
/*
 * test_value.c - print bytes by their type from the fixture's debug information
 *
 * The test chooses the bytes: missing ones, cut ones, and ones that no program would write.
 */
#include "inspect/values/type_name.h"
#include "inspect/values/value.h"
#include "one_values.h"
#include "types.h"

static unsigned char bytes[INS_VALUE_BYTES];
static bool known[INS_VALUE_BYTES];
static char text[400];

static bool put(Dwarf_Die type, size_t size)
{
	const struct ins_value value = {values->source, &values->at[0].fiber, bytes, known, size};
	struct ins_strbuf line = ins_strbuf(text, sizeof text);

	return ins_value_put(&value, &type, &line);
}

static void all_known(void)
{
	memset(bytes, 0, sizeof bytes);
	memset(known, true, sizeof known);
}

static void test_missing_bytes_are_no_number(void **state)
{
	Dwarf_Die number = types_in(values, "leaf", "number"),
		  fraction = types_in(values, "leaf", "fraction");

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
	Dwarf_Die point = types_in(values, "enter", "point");

	(void)state;
	all_known();
	bytes[0] = 3;
	bytes[4] = 4;
	bytes[8] = 5 | (0x1f & -9) << 3;
	known[5] = false;
	assert_true(put(point, ins_value_size(&point)));
	assert_string_equal(text, "{x = 3, y = <optimized out>, low = 5, high = -9, inside = "
				  "{...}, label = 0x0}");
	/* The bytes end inside the struct. */
	assert_true(put(point, 4));
	assert_non_null(strstr(text, "{x = 3, y = <optimized out>, low = <optimized out>"));
}

static void test_what_pointers_lead_to_may_be_nothing(void **state)
{
	Dwarf_Die string = types_in(values, "leaf", "text"),
		  call = types_in(values, "leaf", "call");
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
	/* An endless string of unprintable characters. */
	memset(values->at[0].stack, 7, 400);
	memcpy(bytes, &values->at[0].fiber.row.sp, 8);
	assert_true(put(string, 8));
	assert_non_null(strstr(text, "\"\\x07\\x07"));
	assert_non_null(strstr(text, "\"..."));
	assert_true(strlen(text) < sizeof text);
}

static void test_enumerators_have_names_and_other_numbers_are_numbers(void **state)
{
	Dwarf_Die colour = types_in(values, "middle", "colour");

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

static int start(void **state)
{
	(void)state;
	return one_values("values-plain", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing_bytes_are_no_number),
		cmocka_unit_test(test_members_are_each_there_or_not),
		cmocka_unit_test(test_enumerators_have_names_and_other_numbers_are_numbers),
		cmocka_unit_test(test_what_pointers_lead_to_may_be_nothing),
	};

	return HEAD_RUN(tests, start, one_values_end);
}
