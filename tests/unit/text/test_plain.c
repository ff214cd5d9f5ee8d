/* SPDX-License-Identifier: MIT */
/* test_plain.c - no byte of a name can make a terminal act, and no two names look the same. */
#include <stdio.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/text/plain.h"

static const char *plain(const char *text)
{
	static char buf[256];

	return ins_plain(text, buf, sizeof buf);
}

static const char *quoted(const char *text)
{
	static char buf[256];

	return ins_plain_quoted(text, buf, sizeof buf);
}

static void test_printable_text_stays_as_it_is(void **state)
{
	(void)state;
	assert_string_equal(plain("worker \"7\" \\ a"), "worker \"7\" \\ a");
	assert_string_equal(plain("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x90\xa7"),
			    "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x90\xa7");
	assert_string_equal(plain(""), "");
}

static void test_every_control_character_is_escaped(void **state)
{
	char text[3] = "", want[16];
	unsigned c;

	(void)state;
	for (c = 1; c < 0x20; c++) {
		text[0] = (char)c;
		snprintf(want, sizeof want, "\\x%02x", c);
		assert_string_equal(plain(text), want);
		assert_string_equal(quoted(text), want);
	}
	assert_string_equal(plain("\x7f"), "\\x7f");
	/* C1: U+009B is the one-character CSI. */
	for (c = 0x80; c < 0xa0; c++) {
		text[0] = (char)0xc2;
		text[1] = (char)c;
		snprintf(want, sizeof want, "\\xc2\\x%02x", c);
		assert_string_equal(plain(text), want);
		text[1] = 0;
	}
	assert_string_equal(plain("\xe2\x80\xae"
				  "abc"),
			    "\\xe2\\x80\\xaeabc"); /* right to left */
}

static void test_bytes_that_are_no_utf8_are_escaped(void **state)
{
	static const char *const bad[] = {
		"\x80",
		"\xbf",
		"\xc0\x80",
		"\xc1\xbf",
		"\xc3",
		"\xe2\x82",
		"\xe0\x80\x80",
		"\xed\xa0\x80",
		"\xf4\x90\x80\x80",
		"\xf0\x80\x80\x80",
		"\xff",
		"\xf8\x88\x80\x80",
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		const char *out;

		assert_int_equal(ins_plain_utf8(bad[i]), 0);
		out = plain(bad[i]);
		assert_int_equal(strlen(out), 4 * strlen(bad[i]));
		for (k = 0; out[k]; k++)
			assert_in_range(out[k], 0x20, 0x7e);
	}
}

static void test_quoted_text_is_unambiguous(void **state)
{
	(void)state;
	assert_string_equal(quoted("a\"b\\c"), "a\\\"b\\\\c");
	/* The text \x1b and the byte 0x1b. */
	assert_string_equal(quoted("\\x1b"), "\\\\x1b");
	assert_string_equal(quoted("\x1b"), "\\x1b");
}

static void test_cut_text_is_terminated_and_whole_in_its_characters(void **state)
{
	char text[] = "ab\xe2\x82\xac\x01z", buf[32];
	size_t size, used;

	(void)state;
	for (size = 1; size < sizeof buf; size++) {
		memset(buf, '#', sizeof buf);
		ins_plain(text, buf, size);
		used = strlen(buf);
		assert_true(used < size);
		assert_true(used == 0 || used == 1 || used == 2 || used == 5 || used == 9 ||
			    used == 10);
	}
}

/* Harmless characters, one that is not, harmless ones again: cut anywhere. */
static void test_text_that_is_appended_goes_on_where_it_ends(void **state)
{
	const char *text = "harmless \"\xe2\x82\xac\" \x01 again", *end;
	char buf[64], same[64];
	size_t size;

	(void)state;
	for (size = 1; size < sizeof buf; size++) {
		memset(buf, '#', sizeof buf);
		end = ins_plain_append(text, buf, size);
		assert_ptr_equal(end, buf + strlen(buf));
		assert_string_equal(buf, ins_plain(text, same, size));
		assert_int_equal(buf[size], '#');
		end = ins_plain_append_quoted(text, buf, size);
		assert_ptr_equal(end, buf + strlen(buf));
		assert_string_equal(buf, ins_plain_quoted(text, same, size));
		assert_int_equal(buf[size], '#');
	}
	assert_string_equal(buf, "harmless \\\"\xe2\x82\xac\\\" \\x01 again");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_printable_text_stays_as_it_is),
		cmocka_unit_test(test_every_control_character_is_escaped),
		cmocka_unit_test(test_bytes_that_are_no_utf8_are_escaped),
		cmocka_unit_test(test_quoted_text_is_unambiguous),
		cmocka_unit_test(test_cut_text_is_terminated_and_whole_in_its_characters),
		cmocka_unit_test(test_text_that_is_appended_goes_on_where_it_ends),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
