/* SPDX-License-Identifier: MIT */
/* test_token.c - tokens are written and read back, and damaged ones are refused */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "token/token.h"

static void round_trip(const struct fib_token *token)
{
	struct fib_token back;
	char text[FIB_TOKEN_ROOM];
	const char *why;

	assert_true(fib_token_write(token, text));
	assert_true(strlen(text) <= 80);
	assert_int_equal(strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(text));
	assert_int_equal(fib_token_read(text, &back, &why), 0);
	assert_int_equal(back.test, token->test);
	assert_int_equal(back.numbered, token->numbered);
	if (token->numbered) {
		assert_int_equal(back.seed, token->seed);
		assert_int_equal(back.number, token->number);
		return;
	}
	assert_int_equal(back.n, token->n);
	assert_memory_equal(back.at, token->at, token->n * sizeof *token->at);
}

static void test_token_of_deviations_is_read_back(void **state)
{
	struct fib_token token = {.test = 0xabcde};
	uint32_t step = 0;

	(void)state;
	for (unsigned n = 0; n < 20; n++) {
		token.n = n;
		round_trip(&token);
		step += n == 3 ? 100 : 1 + n % 5;
		token.at[n] = (struct fib_deviation){step, 1 + n % 30};
	}
}

static void test_token_of_a_number_is_read_back(void **state)
{
	static const uint64_t numbers[] = {1, 15, 16, 17, 4711, UINT32_MAX, UINT64_MAX};

	(void)state;
	for (unsigned i = 0; i < 7; i++) {
		const struct fib_token token = {
			.test = i, .numbered = true, .seed = numbers[6 - i], .number = numbers[i]};

		round_trip(&token);
	}
}

static void test_token_that_does_not_fit_is_not_written(void **state)
{
	struct fib_token token = {.n = FIB_DEVIATIONS};
	char text[FIB_TOKEN_ROOM];

	(void)state;
	for (unsigned i = 0; i < FIB_DEVIATIONS; i++)
		token.at[i] = (struct fib_deviation){1000 * (i + 1), 300};
	assert_false(fib_token_write(&token, text));
}

static void test_token_in_capitals_is_the_same(void **state)
{
	const struct fib_token token = {.test = 77, .n = 1, .at = {{5, 2}}};
	struct fib_token back;
	char text[FIB_TOKEN_ROOM];
	const char *why;

	(void)state;
	assert_true(fib_token_write(&token, text));
	for (char *at = text; *at; at++)
		if (*at >= 'a' && *at <= 'z')
			*at = (char)(*at - 'a' + 'A');
	assert_int_equal(fib_token_read(text, &back, &why), 0);
	assert_int_equal(back.at[0].step, 5);
}

/* One changed character is found in nearly all cases; a cut token always. */
static void test_token_with_a_typing_error_is_refused(void **state)
{
	const struct fib_token token = {.test = 12345, .n = 3, .at = {{5, 2}, {9, 1}, {40, 3}}};
	static const char others[] = "0123456789abcdefghjkmnpqrstvwxyz!";
	struct fib_token back;
	char text[FIB_TOKEN_ROOM], wrong[FIB_TOKEN_ROOM];
	unsigned tried = 0, taken = 0;
	const char *why;

	(void)state;
	assert_true(fib_token_write(&token, text));
	for (size_t i = 0; text[i]; i++) {
		for (const char *c = others; *c; c++) {
			strcpy(wrong, text);
			wrong[i] = *c;
			if (*c == text[i])
				continue;
			tried++;
			taken += fib_token_read(wrong, &back, &why) == 0;
		}
		strcpy(wrong, text);
		wrong[i] = 0;
		assert_int_equal(fib_token_read(wrong, &back, &why), -EINVAL);
		assert_true(why[0]);
	}
	assert_true(tried > 500);
	assert_true(taken < tried / 100);
}

static void test_token_of_another_version_or_too_long_says_so(void **state)
{
	struct fib_token back;
	char text[128];
	const char *why;

	(void)state;
	assert_int_equal(fib_token_read("ft2-0000-0aa", &back, &why), -EINVAL);
	assert_string_equal(why, "a token begins with ft1-");
	memset(text, 'a', sizeof text);
	memcpy(text, "ft1-", 4);
	text[127] = 0;
	assert_int_equal(fib_token_read(text, &back, &why), -EINVAL);
	assert_string_equal(why, "a token has at most 80 characters");
}

/* No text makes the reader fail in another way. */
static void test_token_of_random_characters_is_harmless(void **state)
{
	static const char some[] = "0123456789abcdefghjkmnpqrstvwxyz-x";
	struct fib_token back;
	char text[100];
	const char *why;

	(void)state;
	srandom(1);
	for (unsigned i = 0; i < 200000; i++) {
		const size_t n = (size_t)random() % 90;

		strcpy(text, "ft1-");
		for (size_t k = 4; k < n; k++)
			text[k] = some[(size_t)random() % (sizeof some - 1)];
		text[n > 4 ? n : 4] = 0;
		if (fib_token_read(text, &back, &why) == 0)
			assert_true(back.n <= FIB_DEVIATIONS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_token_of_deviations_is_read_back),
		cmocka_unit_test(test_token_of_a_number_is_read_back),
		cmocka_unit_test(test_token_that_does_not_fit_is_not_written),
		cmocka_unit_test(test_token_in_capitals_is_the_same),
		cmocka_unit_test(test_token_with_a_typing_error_is_refused),
		cmocka_unit_test(test_token_of_another_version_or_too_long_says_so),
		cmocka_unit_test(test_token_of_random_characters_is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
