/* SPDX-License-Identifier: MIT */
/* test_strbuf.c - build a line in a buffer; it never exceeds the buffer */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "inspect/text/strbuf.h"
#include "tests/harness/watchdog.h"

static void test_line_numbers_are_printfs(void **state)
{
	const uint64_t numbers[] = {0, 9, 10, 12345678901234567890u, UINT64_MAX};
	char buf[64], expected[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		struct ins_strbuf l = ins_strbuf(buf, sizeof buf);

		ins_strbuf_number(&l, numbers[i]);
		ins_strbuf_text(&l, " ");
		ins_strbuf_hex(&l, numbers[i]);
		snprintf(expected, sizeof expected, "%" PRIu64 " 0x%" PRIx64, numbers[i],
			 numbers[i]);
		assert_string_equal(buf, expected);
		assert_ptr_equal(l.at, buf + strlen(buf));
	}
}

/* The numbers next to each power of ten and of two. */
static void test_line_numbers_have_as_many_digits_as_they_need(void **state)
{
	uint64_t ten = 1;
	unsigned i;

	(void)state;
	for (i = 0; i < 64; i++, ten = i < 20 ? ten * 10 : ten) {
		const uint64_t numbers[] = {ten - 1, ten, (UINT64_C(1) << i) - 1, UINT64_C(1) << i};
		size_t k;

		for (k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
			char buf[64], expected[64];
			struct ins_strbuf l = ins_strbuf(buf, sizeof buf);

			ins_strbuf_number(&l, numbers[k]);
			ins_strbuf_char(&l, ' ');
			ins_strbuf_hex(&l, numbers[k]);
			snprintf(expected, sizeof expected, "%" PRIu64 " 0x%" PRIx64, numbers[k],
				 numbers[k]);
			assert_string_equal(buf, expected);
		}
	}
}

static void test_line_fills_columns_from_either_side(void **state)
{
	char buf[64], *at;
	struct ins_strbuf l = ins_strbuf(buf, sizeof buf);

	(void)state;
	ins_strbuf_text(&l, "ab");
	ins_strbuf_fill(&l, buf, 4);
	at = l.at;
	ins_strbuf_number(&l, 12);
	ins_strbuf_right(&l, at, 5);
	at = l.at;
	ins_strbuf_text(&l, "|long|");
	ins_strbuf_fill(&l, at, 3);
	ins_strbuf_right(&l, at, 3);
	assert_string_equal(buf, "ab     12|long|");
}

static void test_line_counts_characters_not_bytes(void **state)
{
	char buf[64];
	struct ins_strbuf l = ins_strbuf(buf, sizeof buf);

	(void)state;
	ins_strbuf_quoted(&l, "\u00e4\u00f6");
	ins_strbuf_fill(&l, buf, 4);
	assert_string_equal(buf, "\u00e4\u00f6  ");
	ins_strbuf_right(&l, buf, 6);
	assert_string_equal(buf, "  \u00e4\u00f6  ");
}

/* A multibyte character is anywhere in a text that is longer than one step of the counter. */
static void test_line_counts_characters_wherever_they_are(void **state)
{
	size_t before, behind;

	(void)state;
	for (before = 0; before < 20; before++) {
		for (behind = 0; behind < 20; behind++) {
			char buf[128];
			struct ins_strbuf l = ins_strbuf(buf, sizeof buf);

			ins_strbuf_fill(&l, buf, before);
			ins_strbuf_text(&l, "\u20ac");
			ins_strbuf_fill(&l, l.at, behind);
			assert_int_equal(l.at - buf, before + 3 + behind);
			ins_strbuf_fill(&l, buf, 50);
			assert_int_equal(l.at - buf, 52);
			ins_strbuf_right(&l, buf, 60);
			assert_int_equal(l.at - buf, 62);
			assert_memory_equal(buf + 10 + before, "\u20ac", 3);
			assert_int_equal(*l.at, 0);
		}
	}
}

static void test_line_is_cut_at_the_end_of_its_buffer(void **state)
{
	char buf[10] = "?????????", guard = '?';
	struct ins_strbuf l = ins_strbuf(buf, 8);
	char *at;

	(void)state;
	ins_strbuf_text(&l, "abc");
	ins_strbuf_number(&l, 4567);
	ins_strbuf_text(&l, "x");
	ins_strbuf_hex(&l, 255);
	ins_strbuf_quoted(&l, "\033[2J");
	assert_string_equal(buf, "abc4567");
	assert_int_equal(buf[8], guard);
	l = ins_strbuf(buf, 8);
	ins_strbuf_text(&l, "abc");
	at = l.at;
	ins_strbuf_text(&l, "de");
	ins_strbuf_right(&l, at, 20);
	assert_string_equal(buf, "abcde  ");
	ins_strbuf_fill(&l, buf, 30);
	ins_strbuf_char(&l, '!');
	ins_strbuf_escaped(&l, "!");
	assert_string_equal(buf, "abcde  ");
	l = ins_strbuf(buf, 8);
	ins_strbuf_text(&l, "abcd");
	ins_strbuf_number(&l, 56789);
	assert_string_equal(buf, "abcd567");
	l = ins_strbuf(buf, 8);
	ins_strbuf_text(&l, "abc");
	ins_strbuf_hex(&l, 0x123456);
	assert_string_equal(buf, "abc0x12");
	assert_int_equal(buf[8], guard);
}

static void test_line_quotes_what_a_terminal_would_obey(void **state)
{
	char buf[32];
	struct ins_strbuf l = ins_strbuf(buf, sizeof buf);

	(void)state;
	ins_strbuf_quoted(&l, "a\"\033");
	ins_strbuf_char(&l, '.');
	ins_strbuf_escaped(&l, "a\"\033");
	ins_strbuf_char(&l, '.');
	assert_string_equal(buf, "a\\\"\\x1b.a\"\\x1b.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line_numbers_are_printfs),
		cmocka_unit_test(test_line_numbers_have_as_many_digits_as_they_need),
		cmocka_unit_test(test_line_fills_columns_from_either_side),
		cmocka_unit_test(test_line_counts_characters_not_bytes),
		cmocka_unit_test(test_line_counts_characters_wherever_they_are),
		cmocka_unit_test(test_line_is_cut_at_the_end_of_its_buffer),
		cmocka_unit_test(test_line_quotes_what_a_terminal_would_obey),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
