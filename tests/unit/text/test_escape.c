/* SPDX-License-Identifier: MIT */
/* test_escape.c - no byte of a name can control a terminal, and different names look different */
#include <stdio.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/text/escape.h"

static const char *plain(const char *text)
{
	static char buf[256];

	return ins_escape(text, buf, sizeof buf);
}

static const char *quoted(const char *text)
{
	static char buf[256];

	return ins_escape_quoted(text, buf, sizeof buf);
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
}

/* The UTF-8 encoding of a character. */
static const char *utf8(uint32_t c)
{
	static char buf[5];

	memset(buf, 0, sizeof buf);
	if (c < 0x80) {
		buf[0] = (char)c;
	} else if (c < 0x800) {
		buf[0] = (char)(0xc0 | c >> 6);
		buf[1] = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		buf[0] = (char)(0xe0 | c >> 12);
		buf[1] = (char)(0x80 | (c >> 6 & 0x3f));
		buf[2] = (char)(0x80 | (c & 0x3f));
	} else {
		buf[0] = (char)(0xf0 | c >> 18);
		buf[1] = (char)(0x80 | (c >> 12 & 0x3f));
		buf[2] = (char)(0x80 | (c >> 6 & 0x3f));
		buf[3] = (char)(0x80 | (c & 0x3f));
	}
	return buf;
}

static void test_characters_that_turn_a_line_or_are_invisible_are_escaped(void **state)
{
	static const uint32_t hidden[] = {
		0x9b,	0xad,	 0x34f,	  0x61c,   0x115f,  0x180e,  0x200b,  0x200c,
		0x200d, 0x200e,	 0x200f,  0x2028,  0x2029,  0x202a,  0x202e,  0x2060,
		0x2066, 0x2069,	 0x206f,  0x3164,  0xfe0f,  0xfeff,  0xffa0,  0xfff9,
		0xfffb, 0x1d173, 0xe0001, 0xe0041, 0xe007f, 0xe0100, 0xe01ef,
	};
	/* Their neighbours, and right-to-left letters. */
	static const uint32_t shown[] = {
		' ',	'~',	0xa0,	 0xac,	  0xae,	   0x34e,   0x350,
		0x5d0,	0x61b,	0x61d,	 0x627,	  0x2010,  0x2027,  0x202f,
		0x205f, 0x2070, 0x3163,	 0xfdff,  0xfe10,  0xfefe,  0xffef,
		0xfffc, 0xfffd, 0x1d172, 0x1f427, 0xdffff, 0xe1000, 0x10ffff,
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
		const char *text = utf8(hidden[i]);

		assert_int_equal(ins_utf8_length(text), strlen(text));
		assert_int_equal(ins_utf8_decode(text), hidden[i]);
		assert_int_equal(ins_utf8_printable(text), 0);
		assert_int_equal(strlen(plain(text)), 4 * strlen(text));
		assert_int_equal(strspn(plain(text), "\\x0123456789abcdef"), 4 * strlen(text));
	}
	for (i = 0; i < sizeof shown / sizeof shown[0]; i++) {
		const char *text = utf8(shown[i]);

		assert_int_equal(ins_utf8_decode(text), shown[i]);
		assert_int_equal(ins_utf8_printable(text), strlen(text));
		assert_string_equal(plain(text), text);
	}
	assert_string_equal(plain("\xe2\x80\xae"
				  "abc"),
			    "\\xe2\\x80\\xaeabc");
	assert_int_equal(ins_utf8_printable(""), 0);
	assert_int_equal(ins_utf8_printable("\xff"), 0);
	assert_int_equal(ins_utf8_decode("\xff"), 0xfffd);
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

		assert_int_equal(ins_utf8_length(bad[i]), 0);
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
		ins_escape(text, buf, size);
		used = strlen(buf);
		assert_true(used < size);
		assert_true(used == 0 || used == 1 || used == 2 || used == 5 || used == 9 ||
			    used == 10);
	}
}

/* Harmless characters, a harmful one, harmless ones again; cut anywhere. */
static void test_text_that_is_appended_goes_on_where_it_ends(void **state)
{
	const char *text = "harmless \"\xe2\x82\xac\" \x01 again", *end;
	char buf[64], same[64];
	size_t size;

	(void)state;
	for (size = 1; size < sizeof buf; size++) {
		memset(buf, '#', sizeof buf);
		end = ins_escape_append(text, buf, size);
		assert_ptr_equal(end, buf + strlen(buf));
		assert_string_equal(buf, ins_escape(text, same, size));
		assert_int_equal(buf[size], '#');
		end = ins_escape_append_quoted(text, buf, size);
		assert_ptr_equal(end, buf + strlen(buf));
		assert_string_equal(buf, ins_escape_quoted(text, same, size));
		assert_int_equal(buf[size], '#');
	}
	assert_string_equal(buf, "harmless \\\"\xe2\x82\xac\\\" \\x01 again");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_printable_text_stays_as_it_is),
		cmocka_unit_test(test_every_control_character_is_escaped),
		cmocka_unit_test(test_characters_that_turn_a_line_or_are_invisible_are_escaped),
		cmocka_unit_test(test_bytes_that_are_no_utf8_are_escaped),
		cmocka_unit_test(test_quoted_text_is_unambiguous),
		cmocka_unit_test(test_cut_text_is_terminated_and_whole_in_its_characters),
		cmocka_unit_test(test_text_that_is_appended_goes_on_where_it_ends),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
