/* SPDX-License-Identifier: MIT */
/*
 * fuzz_token.c - arbitrary tokens of libfiber-test
 *
 * The first byte of an input says what the rest is: a token as text, that text with a check that
 * holds, or the numbers of a token to write. A token that was read is written and read again.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "fuzz.h"
#include "token/token.h"

#define MOST 256u /* bytes of a text */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

static bool equal(const struct fib_token *a, const struct fib_token *b)
{
	if (a->test != b->test || a->numbered != b->numbered)
		return false;
	if (a->numbered)
		return a->seed == b->seed && a->number == b->number;
	return a->n == b->n && memcmp(a->at, b->at, a->n * sizeof *a->at) == 0;
}

static void write_and_read(const struct fib_token *token, bool must_fit)
{
	char text[FIB_TOKEN_ROOM];
	struct fib_token back;
	const char *why;

	memset(text, 'x', sizeof text);
	if (!fib_token_write(token, text)) {
		fuzz_must(!must_fit);
		return;
	}
	fuzz_must(strnlen(text, sizeof text) < sizeof text);
	fuzz_must(fib_token_read(text, &back, &why) == 0 && equal(token, &back));
}

static bool read_text(const char *text, struct fib_token *ret)
{
	const char *why = NULL;
	const int rc = fib_token_read(text, ret, &why);

	fuzz_must(rc == 0 || (rc == -EINVAL && why && *why));
	fuzz_must(ret->n <= FIB_DEVIATIONS);
	return rc == 0;
}

static void try_text(const uint8_t *data, size_t size, bool repairs)
{
	static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
	const size_t n = size < MOST ? size : MOST - 1;
	char *text = malloc(n + 1); /* exactly: a sanitizer sees what is read beyond */
	struct fib_token token;
	unsigned i;
	bool reads;

	fuzz_must(text);
	if (n)
		memcpy(text, data, n);
	text[n] = 0;
	reads = read_text(text, &token);
	/* One of the 1,024 checks holds. */
	for (i = 0; repairs && !reads && n > 2 && n == strlen(text) && i < 1024; i++) {
		text[n - 2] = digits[i >> 5];
		text[n - 1] = digits[i & 31];
		reads = read_text(text, &token);
	}
	/* What fits in a text that may be longer than it needs to be fits. */
	if (reads)
		write_and_read(&token, true);
	free(text);
}

/* Returns the number in the next bytes of an input. */
static uint64_t take(const uint8_t **at, const uint8_t *end)
{
	uint64_t n = 0;
	const unsigned bytes = *at < end ? *(*at)++ % 9u : 0;
	unsigned i;

	for (i = 0; i < bytes && *at < end; i++)
		n = n << 8 | *(*at)++;
	return n;
}

static void try_numbers(const uint8_t *at, const uint8_t *end)
{
	struct fib_token token = {.test = (uint32_t)take(&at, end) & 0xfffff};
	uint64_t step = 0, chosen;

	token.numbered = take(&at, end) & 1;
	if (token.numbered) {
		token.seed = take(&at, end);
		token.number = take(&at, end);
		write_and_read(&token, true);
		return;
	}
	while (at < end && token.n < FIB_DEVIATIONS) {
		step += (take(&at, end) & UINT32_MAX) + (token.n > 0);
		chosen = take(&at, end) & UINT16_MAX;
		if (step > UINT32_MAX || !chosen)
			break;
		token.at[token.n++] = (struct fib_deviation){(uint32_t)step, (uint32_t)chosen};
	}
	write_and_read(&token, token.n == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	switch (data[0] % 3) {
	case 0:
		try_text(data + 1, size - 1, false);
		break;
	case 1:
		try_text(data + 1, size - 1, true);
		break;
	default:
		try_numbers(data + 1, data + size);
	}
	return 0;
}
