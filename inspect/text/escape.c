/* SPDX-License-Identifier: MIT */
/*
 * escape.c - escape control characters and invisible characters
 *
 * A terminal obeys the control characters C0, C1 and DEL, and also bytes that are not UTF-8 if it
 * is set to another encoding. Unicode characters without a glyph that change the display of others
 * are escaped too: those that change the direction of writing can show a line in another order, and
 * a name with an invisible character looks like one without. Letters of scripts that are written
 * from right to left are not escaped.
 *
 * This table is the only place that lists these characters; every output format uses it.
 */
#include "inspect/text/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Decode the well-formed character of n bytes at text. */
static uint32_t character(const char *text, size_t n)
{
	const unsigned char *t = (const unsigned char *)text;
	uint32_t c = n == 1 ? t[0] : t[0] & (0x7fu >> n);
	size_t i;

	for (i = 1; i < n; i++)
		c = c << 6 | (t[i] & 0x3f);
	return c;
}

size_t ins_utf8_length(const char *text)
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

/*
 * Sorted. Of Unicode 15: Cc, Zl and Zp; of Cf and Default_Ignorable_Code_Point the characters that
 * are never drawn.
 */
static const struct {
	uint32_t first, last;
} hidden[] = {
	{0x0, 0x1f},	  /* C0 */
	{0x7f, 0x9f},	  /* DEL, C1 */
	{0xad, 0xad},	  /* soft hyphen */
	{0x34f, 0x34f},	  /* combining grapheme joiner */
	{0x61c, 0x61c},	  /* Arabic letter mark */
	{0x115f, 0x1160}, /* Hangul fillers */
	{0x17b4, 0x17b5}, /* Khmer inherent vowels */
	{0x180b, 0x180f}, /* Mongolian variation selectors, vowel separator */
	{0x200b, 0x200f}, /* zero width space and joiners, left-to-right and right-to-left mark */
	{0x2028, 0x202e}, /* line and paragraph separator, embeddings and overrides of direction */
	{0x2060, 0x206f}, /* word joiner, invisible operators, isolates of direction */
	{0x3164, 0x3164}, /* Hangul filler */
	{0xfe00, 0xfe0f}, /* variation selectors */
	{0xfeff, 0xfeff}, /* byte order mark */
	{0xffa0, 0xffa0}, /* Hangul filler */
	{0xfff0, 0xfffb}, /* reserved as ignorable, interlinear annotation */
	{0x1bca0, 0x1bca3}, /* shorthand format */
	{0x1d173, 0x1d17a}, /* musical format */
	{0xe0000, 0xe0fff}, /* tags, variation selectors */
};

static bool is_hidden(uint32_t c)
{
	size_t i, n = sizeof hidden / sizeof hidden[0];

	for (i = 0; i < n && hidden[i].first <= c; i++)
		if (c <= hidden[i].last)
			return true;
	return false;
}

size_t ins_utf8_printable(const char *text)
{
	size_t n = ins_utf8_length(text);

	return n && !is_hidden(character(text, n)) ? n : 0;
}

uint32_t ins_utf8_decode(const char *text)
{
	size_t n = ins_utf8_length(text);

	return n ? character(text, n) : 0xfffd;
}

/*
 * The text for the first character of text, escaped if needed. Returns its length; *ret_n is the
 * length of the character.
 */
static size_t escape_one(const char *text, const char *marked, char piece[8], size_t *ret_n)
{
	size_t n = ins_utf8_printable(text), used = 0;

	*ret_n = 1;
	if (!n)
		return (size_t)snprintf(piece, 8, "\\x%02x", (unsigned char)*text);
	if (*text == marked[0] || (marked[0] && *text == marked[1]))
		piece[used++] = '\\';
	memcpy(piece + used, text, n);
	*ret_n = n;
	return used + n;
}

/*
 * Characters that need no further check: most names have no others. The two marks are not among
 * them.
 */
static const bool harmless[256] = {
	[' ' ... '!'] = true,
	['#' ... '['] = true,
	[']' ... '~'] = true,
};

/* Copy the harmless first part of text, at most room bytes. Returns its length. */
static size_t copy_harmless(const char *text, char *to, size_t room)
{
	size_t n;

	for (n = 0; n < room && harmless[(unsigned char)text[n]]; n++)
		to[n] = text[n];
	return n;
}

/*
 * marked: NULL, or the two characters to put a backslash before. Returns the position of the NUL.
 */
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

const char *ins_escape(const char *text, char *buf, size_t size)
{
	escape(text, buf, size, "");
	return buf;
}

const char *ins_escape_quoted(const char *text, char *buf, size_t size)
{
	escape(text, buf, size, "\"\\");
	return buf;
}

char *ins_escape_append(const char *text, char *buf, size_t size)
{
	return escape(text, buf, size, "");
}

char *ins_escape_append_quoted(const char *text, char *buf, size_t size)
{
	return escape(text, buf, size, "\"\\");
}
