/* SPDX-License-Identifier: MIT */
/*
 * json_put.c - write JSON with control and invisible characters escaped
 *
 * jansson escapes the characters below U+0020, and either no others or all that are not ASCII; it
 * never escapes DEL. So jansson writes without escapes, and its output passes through this file.
 * Outside of strings JSON is ASCII, so each character above U+007E is part of a string. A write may
 * end within a character: its first bytes are kept until the next write.
 */
#include "inspect/text/json_put.h"

#include <errno.h>
#include <stdint.h>

#include "inspect/text/escape.h"

struct putting {
	FILE *out;
	char begun[5]; /* of an incomplete character, and a NUL */
	size_t count;
};

static void put_escape(FILE *out, uint32_t c)
{
	if (c > 0xffff)
		fprintf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
			0xdc00 + ((c - 0x10000) & 0x3ff));
	else
		fprintf(out, "\\u%04x", c);
}

/* Add one byte of a character above U+007E. */
static void add(struct putting *p, char byte)
{
	size_t n;

	p->begun[p->count++] = byte;
	p->begun[p->count] = 0;
	n = ins_utf8_length(p->begun);
	if (!n && p->count < 4)
		return;
	p->count = 0;
	if (ins_utf8_printable(p->begun))
		fwrite(p->begun, 1, n, p->out);
	else
		put_escape(p->out, ins_utf8_decode(p->begun));
}

static int filter(const char *buffer, size_t size, void *context)
{
	struct putting *p = context;
	size_t i = 0, n;

	while (i < size) {
		for (n = 0; i + n < size && (unsigned char)buffer[i + n] < 0x7f; n++)
			;
		fwrite(buffer + i, 1, n, p->out);
		for (i += n; i < size && (unsigned char)buffer[i] >= 0x7f; i++)
			add(p, buffer[i]);
	}
	return 0;
}

int ins_json_put(FILE *out, const json_t *value)
{
	struct putting p = {.out = out};

	return json_dump_callback(value, filter, &p, JSON_COMPACT | JSON_ENCODE_ANY) < 0 ? -ENOMEM
											 : 0;
}

void ins_json_put_text(FILE *out, const char *text)
{
	size_t n;

	putc('"', out);
	for (; *text; text += n) {
		n = ins_utf8_length(text);
		if (!ins_utf8_printable(text)) {
			put_escape(out, ins_utf8_decode(text));
			n = n ? n : 1;
			continue;
		}
		if (*text == '"' || *text == '\\')
			putc('\\', out);
		fwrite(text, 1, n, out);
	}
	putc('"', out);
}
