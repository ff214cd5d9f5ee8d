/* SPDX-License-Identifier: MIT */
/* test_scan.c - split an expression into tokens, reading nothing past its end */
#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/dice.h"
#include "tests/harness/inspect/head.h"
#include "inspect/query/scan.h"

static void expect(struct ins_scan *s, enum ins_scan_token token, const char *text)
{
	assert_int_equal(s->token, token);
	if (text)
		assert_string_equal(s->text, text);
	ins_scan_next(s);
}

static void expect_op(struct ins_scan *s, enum ins_scan_op op)
{
	assert_int_equal(s->token, INS_SCAN_OP);
	assert_int_equal(s->op, op);
	ins_scan_next(s);
}

static void test_scan_tells_words_from_operators(void **state)
{
	struct ins_scan s;

	(void)state;
	ins_scan_begin(&s, "(state=suspended\tand\nage>2s)or not holder");
	expect(&s, INS_SCAN_OPEN, NULL);
	expect(&s, INS_SCAN_WORD, "state");
	expect_op(&s, INS_OP_EQUAL);
	expect(&s, INS_SCAN_WORD, "suspended");
	expect(&s, INS_SCAN_WORD, "and");
	expect(&s, INS_SCAN_WORD, "age");
	expect_op(&s, INS_OP_MORE);
	expect(&s, INS_SCAN_WORD, "2s");
	expect(&s, INS_SCAN_CLOSE, NULL);
	assert_true(ins_scan_is(&s, "or"));
	expect(&s, INS_SCAN_WORD, "or");
	expect(&s, INS_SCAN_WORD, "not");
	expect(&s, INS_SCAN_WORD, "holder");
	expect(&s, INS_SCAN_END, NULL);
	expect(&s, INS_SCAN_END, NULL);
}

static void test_scan_knows_every_operator(void **state)
{
	struct ins_scan s;

	(void)state;
	ins_scan_begin(&s, "= == != < <= > >= ~ =~ !~ <=>=");
	expect_op(&s, INS_OP_EQUAL);
	expect_op(&s, INS_OP_EQUAL);
	expect_op(&s, INS_OP_NOT_EQUAL);
	expect_op(&s, INS_OP_LESS);
	expect_op(&s, INS_OP_AT_MOST);
	expect_op(&s, INS_OP_MORE);
	expect_op(&s, INS_OP_AT_LEAST);
	expect_op(&s, INS_OP_MATCH);
	expect_op(&s, INS_OP_MATCH);
	expect_op(&s, INS_OP_MATCH_NOT);
	expect_op(&s, INS_OP_AT_MOST);
	expect_op(&s, INS_OP_AT_LEAST);
	expect(&s, INS_SCAN_END, NULL);
}

static void test_scan_takes_quoted_texts_as_they_are(void **state)
{
	struct ins_scan s;

	(void)state;
	ins_scan_begin(&s, "\"GET /(a b)?x=1\" \"\" \"and\" \"a\\\"b\\\\c\\d\"and");
	expect(&s, INS_SCAN_QUOTED, "GET /(a b)?x=1");
	expect(&s, INS_SCAN_QUOTED, "");
	assert_false(ins_scan_is(&s, "and"));
	expect(&s, INS_SCAN_QUOTED, "and");
	expect(&s, INS_SCAN_QUOTED, "a\"b\\c\\d");
	assert_true(ins_scan_is(&s, "and"));
}

static void test_scan_calls_what_is_not_closed_broken(void **state)
{
	static const char *const bad[] = {"\"",		 "\"abc", "\"abc\\\"", "\"\\",
					  "\"a\\\\\\\"", "!",	  "! ="};
	struct ins_scan s;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		ins_scan_begin(&s, bad[i]);
		assert_int_equal(s.token, INS_SCAN_BROKEN);
		assert_ptr_equal(s.start, bad[i]);
	}
}

static void test_scan_calls_what_is_too_long_broken(void **state)
{
	char text[300];
	struct ins_scan s;

	(void)state;
	memset(text, 'x', sizeof text);
	text[sizeof s.text - 1] = 0;
	ins_scan_begin(&s, text);
	assert_string_equal(s.text, text);
	assert_int_equal(s.token, INS_SCAN_WORD);
	text[sizeof s.text - 1] = 'x';
	text[sizeof s.text] = 0;
	ins_scan_begin(&s, text);
	assert_int_equal(s.token, INS_SCAN_BROKEN);
	/* The quotes are not part of the length. */
	text[0] = text[sizeof s.text] = '"';
	text[sizeof s.text + 1] = 0;
	ins_scan_begin(&s, text);
	assert_int_equal(s.token, INS_SCAN_QUOTED);
	assert_int_equal(strlen(s.text), sizeof s.text - 1);
	text[sizeof s.text] = 'x';
	text[sizeof s.text + 1] = '"';
	text[sizeof s.text + 2] = 0;
	ins_scan_begin(&s, text);
	assert_int_equal(s.token, INS_SCAN_BROKEN);
}

/* Each text is allocated in its exact size, so that a sanitizer detects a read past its end. */
static void test_scan_ends_whatever_the_bytes_are(void **state)
{
	static const char some[] = "\"\\ ()=!<>~ab\t\n\x01\x80\xff";
	uint64_t seed = 42;
	int i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		size_t n = dice(&seed, 40), at;
		char *text = malloc(n + 1);
		struct ins_scan s;
		size_t words = 0;

		for (at = 0; at < n; at++)
			text[at] = dice(&seed, 8) ? some[dice(&seed, sizeof some - 1)]
						  : (char)(1 + dice(&seed, 255));
		text[n] = 0;
		for (ins_scan_begin(&s, text);
		     s.token != INS_SCAN_END && s.token != INS_SCAN_BROKEN; ins_scan_next(&s)) {
			assert_in_range(s.rest - s.start, 1, n);
			assert_true(s.start >= text && s.rest <= text + n);
			assert_true(++words <= n);
		}
		assert_true(s.start <= text + n);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scan_tells_words_from_operators),
		cmocka_unit_test(test_scan_knows_every_operator),
		cmocka_unit_test(test_scan_takes_quoted_texts_as_they_are),
		cmocka_unit_test(test_scan_calls_what_is_not_closed_broken),
		cmocka_unit_test(test_scan_calls_what_is_too_long_broken),
		cmocka_unit_test(test_scan_ends_whatever_the_bytes_are),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
