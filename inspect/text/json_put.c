/* SPDX-License-Identifier: MIT */
/*
 * json_put.c - write JSON in which no text moves a cursor or is invisible
 *
 * jansson escapes the characters below U+0020 and either nothing else or everything that is not ASCII, and DEL never. So
 * it writes without escapes, and what it writes passes through here. Outside of its strings JSON is ASCII, so each
 * character above U+007E is one of a text. A call may end within a character: its beginning is kept until the next.
 */
#include "inspect/text/json_put.h"

#include <errno.h>
#include <stdint.h>

#include "inspect/text/escape.h"

struct putting {
	FILE *out;
	char begun[5]; /* of a character that has not ended, and a NUL */
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

/* One more byte of a character above U+007E. */
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
