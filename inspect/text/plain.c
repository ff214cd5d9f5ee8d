/* SPDX-License-Identifier: MIT */
/*
 * plain.c - escaping what a terminal would obey
 *
 * C0 and C1 control characters and DEL are what a terminal obeys; so are bytes that are no UTF-8,
 * to a terminal that is set to another encoding. Characters that only confuse the reader, those that
 * turn the direction of writing, are escaped too: a name must not be able to hide the one after it.
 */
#include "inspect/text/plain.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The character of n bytes at text, which is well-formed. */
static uint32_t character(const char *text, size_t n)
{
	const unsigned char *t = (const unsigned char *)text;
	uint32_t c = n == 1 ? t[0] : t[0] & (0x7fu >> n);
	size_t i;

	for (i = 1; i < n; i++)
		c = c << 6 | (t[i] & 0x3f);
	return c;
}

size_t ins_plain_utf8(const char *text)
{
	static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *t = (const unsigned char *)text;
	uint32_t c;
	size_t n, i;

	if (t[0] < 0x80)
		return 1;
	if (t[0] < 0xc2 || t[0] > 0xf4)
		return 0;
	n = t[0] < 0xe0 ? 2 : t[0] < 0xf0 ? 3 : 4;
	for (i = 1; i < n; i++) {
		if ((t[i] & 0xc0) != 0x80)
			return 0;
	}
	c = character(text, n);
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	return n;
}

static bool obeyed(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* The piece of text that stands for its first character. Returns its length; *ret_n is that of the character. */
static size_t escape_one(const char *text, const char *marked, char piece[8], size_t *ret_n)
{
	size_t n = ins_plain_utf8(text), used = 0;

	*ret_n = 1;
	if (!n || obeyed(character(text, n)))
		return (size_t)snprintf(piece, 8, "\\x%02x", (unsigned char)*text);
	if (*text == marked[0] || (marked[0] && *text == marked[1]))
		piece[used++] = '\\';
	memcpy(piece + used, text, n);
	*ret_n = n;
	return used + n;
}

/* What needs no look at it: all that is in most names. The two marks are no part of it. */
static const bool harmless[256] = {
	[' ' ... '!'] = true,
	['#' ... '['] = true,
	[']' ... '~'] = true,
};

/* Copy the beginning of text that is harmless, at most room bytes of it. Returns its length. */
static size_t copy_harmless(const char *text, char *to, size_t room)
{
	size_t n;

	for (n = 0; n < room && harmless[(unsigned char)text[n]]; n++)
		to[n] = text[n];
	return n;
}

/* marked: none, or two characters. Returns where the NUL is. */
static char *escape(const char *text, char *buf, size_t size, const char *marked)
{
	size_t used = 0;

	for (;;) {
		size_t n = copy_harmless(text, buf + used, size - 1 - used), room;
		char piece[8];

		text += n;
		used += n;
		if (!*text)
			break;
		room = escape_one(text, marked, piece, &n);
		if (used + room >= size)
			break;
		memcpy(buf + used, piece, room);
		used += room;
		text += n;
	}
	buf[used] = 0;
	return buf + used;
}

const char *ins_plain(const char *text, char *buf, size_t size)
{
	escape(text, buf, size, "");
	return buf;
}

const char *ins_plain_quoted(const char *text, char *buf, size_t size)
{
	escape(text, buf, size, "\"\\");
	return buf;
}

char *ins_plain_append(const char *text, char *buf, size_t size)
{
	return escape(text, buf, size, "");
}

char *ins_plain_append_quoted(const char *text, char *buf, size_t size)
{
	return escape(text, buf, size, "\"\\");
}
