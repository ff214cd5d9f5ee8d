/* SPDX-License-Identifier: MIT */
/* test_text.c - lines formatted without stdio equal the lines that stdio would format */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static char buf[128];
static struct fib_text text = {.buf = buf};

static struct fib_text *fresh(void)
{
	memset(buf, 0, sizeof buf);
	text.size = sizeof buf - 1;
	text.used = 0;
	return &text;
}

static void test_text_numbers_are_printfs(void **state)
{
	static const uint64_t numbers[] = {0, 7, 10, 4096, UINT32_MAX, UINT64_MAX - 1, UINT64_MAX};
	char wanted[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		fib_text_number(fresh(), numbers[i]);
		snprintf(wanted, sizeof wanted, "%" PRIu64, numbers[i]);
		assert_string_equal(buf, wanted);
		fib_text_hex(fresh(), numbers[i]);
		snprintf(wanted, sizeof wanted, "0x%" PRIx64, numbers[i]);
		assert_string_equal(buf, wanted);
	}
}

static void test_text_durations_have_two_units_at_most(void **state)
{
	static const struct {
		int64_t ns;
		const char *text;
	} durations[] = {
		{-5, "0s"},
		{0, "0s"},
		{999, "999ns"},
		{17400, "17us"},
		{999999999, "999ms"},
		{1000000000, "1s"},
		{2140000000, "2.1s"},
		{200000000000, "3m20s"},
		{7260000000000, "2h1m"},
		{439200000000000, "5d2h"},
		{INT64_MAX, "106751d23h"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof durations / sizeof durations[0]; i++) {
		fib_text_duration(fresh(), durations[i].ns);
		assert_string_equal(buf, durations[i].text);
	}
}

static void test_text_quoted_moves_no_cursor(void **state)
{
	static const char full[4] = {'a', 'b', 'c', 'd'};

	(void)state;
	fib_text_quoted(fresh(), "plain name", 32);
	assert_string_equal(buf, "\"plain name\"");
	fib_text_quoted(fresh(), "a\"b\\c\n\x1b[2J\xc2\x9b\x7f", 32);
	assert_string_equal(buf, "\"a\\\"b\\\\c\\x0a\\x1b[2J\\xc2\\x9b\\x7f\"");
	fib_text_quoted(fresh(), full, sizeof full);
	assert_string_equal(buf, "\"abcd\"");
}

static void test_text_plain_moves_no_cursor_and_quotes_nothing(void **state)
{
	static const char full[4] = {'a', '\xff', 'c', 'd'};

	(void)state;
	fib_text_plain(fresh(), "a\"b\\c\n\x1b[2J\xe2\x80\xae\x7f", 32);
	assert_string_equal(buf, "a\"b\\c\\x0a\\x1b[2J\\xe2\\x80\\xae\\x7f");
	fib_text_plain(fresh(), full, 3);
	assert_string_equal(buf, "a\\xffc");
}

static void test_text_is_cut_where_its_room_ends(void **state)
{
	struct fib_text *t = fresh();

	(void)state;
	t->size = 5;
	fib_text_put(t, "abc");
	fib_text_number(t, 12345);
	fib_text_put(t, "more");
	assert_int_equal(t->used, 5);
	assert_string_equal(buf, "abc12");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_numbers_are_printfs),
		cmocka_unit_test(test_text_durations_have_two_units_at_most),
		cmocka_unit_test(test_text_quoted_moves_no_cursor),
		cmocka_unit_test(test_text_plain_moves_no_cursor_and_quotes_nothing),
		cmocka_unit_test(test_text_is_cut_where_its_room_ends),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
