/* SPDX-License-Identifier: MIT */
/* test_number.c - print numbers by their DWARF type encoding */
#include <dwarf.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/text/number.h"

static char text[128];

static const char *put(unsigned long encoding, uint64_t number)
{
	struct ins_strbuf line = ins_strbuf(text, sizeof text);

	ins_number_put(&line, encoding, number);
	return text;
}

static void test_whole_numbers_are_as_their_encoding_says(void **state)
{
	(void)state;
	assert_string_equal(put(DW_ATE_signed, (uint64_t)-3), "-3");
	assert_string_equal(put(DW_ATE_signed, (uint64_t)INT64_MIN), "-9223372036854775808");
	assert_string_equal(put(DW_ATE_unsigned, UINT64_MAX), "18446744073709551615");
	assert_string_equal(put(DW_ATE_boolean, 1), "true");
	assert_string_equal(put(DW_ATE_boolean, 0), "false");
	/* No compiler writes this value, but memory may have it. */
	assert_string_equal(put(DW_ATE_boolean, 2), "2");
}

static void test_characters_are_shown_and_do_nothing_to_a_terminal(void **state)
{
	(void)state;
	assert_string_equal(put(DW_ATE_signed_char, 'a'), "97 'a'");
	assert_string_equal(put(DW_ATE_signed_char, 0), "0");
	assert_string_equal(put(DW_ATE_signed_char, (uint64_t)-1), "-1");
	assert_string_equal(put(DW_ATE_unsigned_char, 27), "27 '\\x1b'");
}

static void test_floats_have_all_their_digits(void **state)
{
	struct ins_strbuf line = ins_strbuf(text, sizeof text);
	const float f = 0.1f;
	const double d = DBL_MAX;

	(void)state;
	assert_true(ins_number_float(&line, &f, sizeof f));
	assert_true(strtof(text, NULL) == f);
	line = ins_strbuf(text, sizeof text);
	assert_true(ins_number_float(&line, &d, sizeof d));
	assert_true(strtod(text, NULL) == d);
	line = ins_strbuf(text, sizeof text);
	assert_false(ins_number_float(&line, &d, 3));
	assert_non_null(strstr(text, "<cannot be shown"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_numbers_are_as_their_encoding_says),
		cmocka_unit_test(test_characters_are_shown_and_do_nothing_to_a_terminal),
		cmocka_unit_test(test_floats_have_all_their_digits),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
