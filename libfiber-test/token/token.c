/* SPDX-License-Identifier: MIT */
/* token.c - write and read tokens; digits are those of Crockford's base 32 */
#include "token/token.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#define PREFIX "ft1-"
#define ID     4u /* digits */
#define CHECK  2u
#define MORE   16u /* in a digit: another one follows; 4 bits each */

enum { DEVIATES, NUMBERED }; /* the first digit after the identity */

static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";

/* FNV-1a (Fowler, Noll, Vo). */
static uint32_t hash(uint32_t h, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	while (n--)
		h = (h ^ *at++) * UINT32_C(16777619);
	return h;
}

uint32_t fib_token_test(const char *name, unsigned faults, int64_t slack, unsigned steps)
{
	uint32_t h = hash(UINT32_C(2166136261), name, strlen(name));

	if (faults)
		h = hash(h, &faults, sizeof faults);
	h = hash(h, &slack, sizeof slack);
	h = hash(h, &steps, sizeof steps);
	return (h ^ h >> 20) & 0xfffffu;
}

struct text {
	char *at, *end;
	bool full;
};

static void put_digit(struct text *t, unsigned digit)
{
	if (t->at == t->end)
		t->full = true;
	else
		*t->at++ = digits[digit];
}

static void put_number(struct text *t, uint64_t n)
{
	for (; n >= MORE; n >>= 4)
		put_digit(t, MORE | (unsigned)(n & 15));
	put_digit(t, (unsigned)n);
}

static void put_fixed(struct text *t, uint32_t n, unsigned count)
{
	while (count--)
		put_digit(t, n >> 5 * count & 31);
}

static uint32_t check_of(const char *text, size_t n)
{
	const uint32_t h = hash(UINT32_C(2166136261), text, n);

	return (h ^ h >> 10 ^ h >> 20) & 1023;
}

bool fib_token_write(const struct fib_token *token, char ret[FIB_TOKEN_ROOM])
{
	/* The check and the end must fit, too. */
	struct text t = {ret + strlen(PREFIX), ret + FIB_TOKEN_ROOM - 1 - CHECK, false};
	uint32_t before = 0;
	unsigned i;

	strcpy(ret, PREFIX);
	put_fixed(&t, token->test, ID);
	*t.at++ = '-';
	put_digit(&t, token->numbered ? NUMBERED : DEVIATES);
	if (token->numbered) {
		put_number(&t, token->seed);
		put_number(&t, token->number);
	}
	for (i = 0; !token->numbered && i < token->n; i++) {
		put_number(&t, token->at[i].step - before);
		put_number(&t, token->at[i].chosen);
		before = token->at[i].step;
	}
	if (t.full)
		return false;
	t.end += CHECK;
	put_fixed(&t, check_of(ret, (size_t)(t.at - ret)), CHECK);
	*t.at = 0;
	return true;
}

static int value_of(char c)
{
	const char *at = c ? strchr(digits, c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) : NULL;

	return at ? (int)(at - digits) : -1;
}

static bool take_number(const char **at, const char *end, uint64_t *ret)
{
	unsigned shift = 0, digit;

	*ret = 0;
	do {
		if (*at == end || shift > 60)
			return false;
		digit = (unsigned)value_of(*(*at)++);
		*ret |= (uint64_t)(digit & 15) << shift;
		shift += 4;
	} while (digit & MORE);
	return true;
}

static int read_deviations(const char *at, const char *end, struct fib_token *ret)
{
	uint64_t distance, chosen, step = 0;

	while (at < end) {
		if (ret->n == FIB_DEVIATIONS || !take_number(&at, end, &distance) ||
		    !take_number(&at, end, &chosen) || !chosen || chosen > UINT16_MAX ||
		    distance > UINT32_MAX - step || (ret->n && !distance))
			return -EINVAL;
		step += distance;
		ret->at[ret->n++] = (struct fib_deviation){(uint32_t)step, (uint32_t)chosen};
	}
	return 0;
}

int fib_token_read(const char *text, struct fib_token *ret, const char **ret_why)
{
	const size_t n = strlen(text), head = strlen(PREFIX) + ID + 1;
	char lower[FIB_TOKEN_ROOM];
	const char *at, *end;
	size_t i;

	memset(ret, 0, sizeof *ret);
	*ret_why = "a token begins with ft1-";
	if (strncasecmp(text, PREFIX, strlen(PREFIX)) != 0)
		return -EINVAL;
	*ret_why = "a token has at most 80 characters";
	if (n >= FIB_TOKEN_ROOM)
		return -EINVAL;
	*ret_why = "the token is mistyped or cut";
	if (n < head + CHECK || text[head - 1] != '-')
		return -EINVAL;
	for (i = 0; i < n; i++) {
		if (i != head - 1 && i != strlen(PREFIX) - 1 && value_of(text[i]) < 0 &&
		    i >= strlen(PREFIX))
			return -EINVAL;
		lower[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] - 'A' + 'a' : text[i]);
	}
	lower[n] = 0;
	end = lower + n - CHECK;
	if (check_of(lower, n - CHECK) != (uint32_t)(value_of(end[0]) << 5 | value_of(end[1])))
		return -EINVAL;
	for (i = 0; i < ID; i++)
		ret->test = ret->test << 5 | (uint32_t)value_of(lower[strlen(PREFIX) + i]);
	at = lower + head;
	if (at == end || value_of(*at) > NUMBERED)
		return -EINVAL;
	ret->numbered = value_of(*at++) == NUMBERED;
	if (ret->numbered)
		return take_number(&at, end, &ret->seed) && take_number(&at, end, &ret->number) &&
				       at == end
			       ? 0
			       : -EINVAL;
	return read_deviations(at, end, ret);
}

bool fib_token_deviations(const struct fib_step *steps, unsigned n, struct fib_token *ret)
{
	unsigned i;

	ret->n = 0;
	for (i = 0; i < n; i++) {
		if (!steps[i].chosen)
			continue;
		if (ret->n == FIB_DEVIATIONS)
			return false;
		ret->at[ret->n++] = (struct fib_deviation){i, steps[i].chosen};
	}
	return true;
}
