/* SPDX-License-Identifier: MIT */
/* test_json_put.c - the JSON equals the value, and no byte of it controls a terminal */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/text/json_put.h"

#define EVIL                                                                                   \
	"a\x1b[2J\x7f\xc2\x9b\xd8\x9c\xe2\x80\x8e\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6\xe2\x81" \
	"\xa9\xf3\xa0\x81\x81\"\\\xc3\xa4\xf0\x9f\x90\xa7z"
#define ESCAPED                                                                               \
	"\"a\\u001b[2J\\u007f\\u009b\\u061c\\u200e\\u2028\\u202e\\u2066\\u2069\\udb40\\udc41" \
	"\\\"\\\\\xc3\xa4\xf0\x9f\x90\xa7z\""

static char *text;
static size_t size;

static const char *put(const json_t *value)
{
	FILE *out;

	free(text);
	out = open_memstream(&text, &size);
	assert_int_equal(ins_json_put(out, value), 0);
	fclose(out);
	return text;
}

static void test_a_text_is_escaped_and_stays_equal(void **state)
{
	json_t *value = json_string(EVIL), *again;

	(void)state;
	/* jansson writes the escapes of C0 in capitals. */
	assert_int_equal(strcasecmp(put(value), ESCAPED), 0);
	again = json_loads(text, JSON_DECODE_ANY, NULL);
	assert_string_equal(json_string_value(again), EVIL);
	json_decref(again);
	json_decref(value);
}

static void test_keys_are_escaped_too(void **state)
{
	json_t *value = json_pack("{s:[i, s, n]}", "k\xe2\x80\xae", 7, "\xc2\x9b"), *again;

	(void)state;
	assert_string_equal(put(value), "{\"k\\u202e\":[7,\"\\u009b\",null]}");
	again = json_loads(text, 0, NULL);
	assert_true(json_equal(value, again));
	json_decref(again);
	json_decref(value);
}

static void test_every_character_survives(void **state)
{
	char bytes[5];
	uint32_t c;

	(void)state;
	for (c = 1; c <= 0x10ffff; c += c < 0x3000 || (c >= 0xfe00 && c < 0x10000) ? 1 : 97) {
		json_t *value, *again;
		int n = snprintf(bytes, sizeof bytes, "%c", (int)c);

		if (c >= 0x80) {
			n = 0;
			if (c >= 0x10000)
				bytes[n++] = (char)(0xf0 | c >> 18);
			if (c >= 0x800)
				bytes[n++] = (char)(c < 0x10000 ? 0xe0 | c >> 12
								: 0x80 | (c >> 12 & 0x3f));
			bytes[n++] = (char)(c < 0x800 ? 0xc0 | c >> 6 : 0x80 | (c >> 6 & 0x3f));
			bytes[n++] = (char)(0x80 | (c & 0x3f));
		}
		value = json_stringn(bytes, (size_t)n);
		if (!value) /* half of a surrogate pair is not a character */
			continue;
		again = json_loads(put(value), JSON_DECODE_ANY, NULL);
		assert_true(json_equal(value, again));
		json_decref(again);
		json_decref(value);
	}
}

static void test_a_single_text_is_written_the_same_way(void **state)
{
	FILE *out;

	(void)state;
	free(text);
	out = open_memstream(&text, &size);
	ins_json_put_text(out, EVIL "\xff\xc3");
	fclose(out);
	assert_int_equal(strncmp(text, ESCAPED, strlen(ESCAPED) - 1), 0);
	assert_string_equal(text + strlen(ESCAPED) - 1, "\\ufffd\\ufffd\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_text_is_escaped_and_stays_equal),
		cmocka_unit_test(test_keys_are_escaped_too),
		cmocka_unit_test(test_every_character_survives),
		cmocka_unit_test(test_a_single_text_is_written_the_same_way),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
