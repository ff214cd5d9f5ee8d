/* SPDX-License-Identifier: MIT */
/* text.c - format numbers, durations and names */
#include "base/text.h"

#include <string.h>

#define SECOND INT64_C(1000000000)

static void put(struct fib_text *t, const char *bytes, size_t n)
{
	if (n > t->size - t->used)
		n = t->size - t->used;
	memcpy(t->buf + t->used, bytes, n);
	t->used += n;
}

void fib_text_put(struct fib_text *t, const char *string)
{
	put(t, string, strlen(string));
}

static void put_based(struct fib_text *t, uint64_t number, unsigned base)
{
	char digits[24];
	size_t at = sizeof digits;

	do {
		digits[--at] = "0123456789abcdef"[number % base];
		number /= base;
	} while (number);
	put(t, digits + at, sizeof digits - at);
}

void fib_text_number(struct fib_text *t, uint64_t number)
{
	put_based(t, number, 10);
}

void fib_text_hex(struct fib_text *t, uint64_t number)
{
	fib_text_put(t, "0x");
	put_based(t, number, 16);
}

static void put_byte(struct fib_text *t, char byte)
{
	unsigned char c = (unsigned char)byte;
	const char escaped[] = {'\\', 'x', "0123456789abcdef"[c >> 4], "0123456789abcdef"[c & 15]};

	if (c < 0x20 || c >= 0x7f)
		put(t, escaped, sizeof escaped);
	else
		put(t, &byte, 1);
}

void fib_text_plain(struct fib_text *t, const char *text, size_t size)
{
	size_t i;

	for (i = 0; i < size && text[i]; i++)
		put_byte(t, text[i]);
}

void fib_text_quoted(struct fib_text *t, const char *name, size_t size)
{
	size_t i;

	fib_text_put(t, "\"");
	for (i = 0; i < size && name[i]; i++) {
		if (name[i] == '"' || name[i] == '\\')
			fib_text_put(t, "\\");
		put_byte(t, name[i]);
	}
	fib_text_put(t, "\"");
}

static void put_unit(struct fib_text *t, int64_t number, const char *unit)
{
	fib_text_number(t, (uint64_t)number);
	fib_text_put(t, unit);
}

void fib_text_duration(struct fib_text *t, int64_t ns)
{
	int64_t s = ns / SECOND, tenths = ns % SECOND / (SECOND / 10);

	if (ns <= 0) {
		fib_text_put(t, "0s");
	} else if (ns < 1000) {
		put_unit(t, ns, "ns");
	} else if (ns < 1000000) {
		put_unit(t, ns / 1000, "us");
	} else if (ns < SECOND) {
		put_unit(t, ns / 1000000, "ms");
	} else if (s < 60) {
		fib_text_number(t, (uint64_t)s);
		if (tenths) {
			fib_text_put(t, ".");
			fib_text_number(t, (uint64_t)tenths);
		}
		fib_text_put(t, "s");
	} else if (s < 3600) {
		put_unit(t, s / 60, "m");
		put_unit(t, s % 60, "s");
	} else if (s < 86400) {
		put_unit(t, s / 3600, "h");
		put_unit(t, s % 3600 / 60, "m");
	} else {
		put_unit(t, s / 86400, "d");
		put_unit(t, s % 86400 / 3600, "h");
	}
}
