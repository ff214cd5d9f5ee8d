/* SPDX-License-Identifier: MIT */
/* escape.c - write texts of the program into reports: plain, JSON, XML */
#include "text/escape.h"

#include <inttypes.h>
#include <string.h>

static bool is_plain(char c)
{
	return c >= 0x20 && c < 0x7f;
}

static void put_byte(FILE *out, char c)
{
	if (is_plain(c))
		putc(c, out);
	else
		fprintf(out, "\\x%02x", (unsigned char)c);
}

void fib_put_plain(FILE *out, const char *text)
{
	for (; *text; text++)
		put_byte(out, *text);
}

const char *fib_plain(const char *text, char *buf, size_t size)
{
	size_t used = 0;

	for (; *text; text++) {
		const size_t room = is_plain(*text) ? 1 : 4;

		if (used + room >= size)
			break;
		if (room == 1)
			buf[used] = *text;
		else
			snprintf(buf + used, size - used, "\\x%02x", (unsigned char)*text);
		used += room;
	}
	buf[used] = 0;
	return buf;
}

void fib_put_lines(FILE *out, const char *text, const char *indent)
{
	while (*text) {
		fputs(indent, out);
		for (; *text && *text != '\n'; text++)
			put_byte(out, (char)(*text == '\t' ? ' ' : *text));
		putc('\n', out);
		text += *text == '\n';
	}
}

/* The character at text and its length; length 0: it is not UTF-8. */
static uint32_t decode(const char *text, unsigned *ret_length)
{
	static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *t = (const unsigned char *)text;
	const unsigned n = t[0] < 0x80	 ? 1
			   : t[0] < 0xc2 ? 0
			   : t[0] < 0xe0 ? 2
			   : t[0] < 0xf0 ? 3
			   : t[0] < 0xf5 ? 4
					 : 0;
	uint32_t c = n < 2 ? t[0] : t[0] & (0x7fu >> n);
	unsigned i;

	*ret_length = 0;
	for (i = 1; i < n; i++) {
		if ((t[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (t[i] & 0x3f);
	}
	if (!n || c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*ret_length = n;
	return c;
}

static void put_u(FILE *out, uint32_t c)
{
	if (c > 0xffff)
		fprintf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
			0xdc00 + ((c - 0x10000) & 0x3ff));
	else
		fprintf(out, "\\u%04x", c);
}

void fib_put_json(FILE *out, const char *text)
{
	unsigned n;
	uint32_t c;

	if (!text) {
		fputs("null", out);
		return;
	}
	putc('"', out);
	for (; *text; text += n ? n : 1) {
		c = decode(text, &n);
		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", *text);
		else if (c == '\n')
			fputs("\\n", out);
		else if (is_plain(*text))
			putc(*text, out);
		else
			put_u(out, n ? c : 0xfffd);
	}
	putc('"', out);
}

void fib_put_xml(FILE *out, const char *text)
{
	unsigned n;
	uint32_t c;

	for (; *text; text += n ? n : 1) {
		c = decode(text, &n);
		if (*text == '\n' || (is_plain(*text) && !strchr("<>&\"'", *text)))
			putc(*text, out);
		else if (n == 1 && is_plain(*text))
			fprintf(out, "&#%u;", c);
		else if (n && c >= 0xa0 && c != 0xfffe && c != 0xffff)
			fprintf(out, "&#x%x;", c);
		else
			for (unsigned i = 0; i < (n ? n : 1); i++)
				fprintf(out, "\\x%02x", (unsigned char)text[i]);
	}
}

void fib_put_text_member(FILE *out, const char *key, const char *text)
{
	fprintf(out, "\"%s\":", key);
	fib_put_json(out, text && text[0] ? text : NULL);
	fputc(',', out);
}

void fib_put_number_member(FILE *out, const char *key, uint64_t number, bool known)
{
	if (known)
		fprintf(out, "\"%s\":%" PRIu64 ",", key, number);
	else
		fprintf(out, "\"%s\":null,", key);
}
