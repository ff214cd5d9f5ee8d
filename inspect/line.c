/* SPDX-License-Identifier: MIT */
/* line.c - a line of text that is put together piece by piece. */
#include "inspect/line.h"

#include <string.h>

#include "inspect/plain.h"

struct ins_line ins_line(char *buf, size_t size)
{
	buf[0] = 0;
	return (struct ins_line){buf, buf + size - 1};
}

void ins_line_bytes(struct ins_line *line, const char *bytes, size_t n)
{
	size_t room = (size_t)(line->end - line->at);

	if (n > room)
		n = room;
	memcpy(line->at, bytes, n);
	line->at += n;
	*line->at = 0;
}

void ins_line_text(struct ins_line *line, const char *text)
{
	ins_line_bytes(line, text, strlen(text));
}

void ins_line_number(struct ins_line *line, uint64_t number)
{
	char digits[20];
	size_t i = sizeof digits;

	do {
		digits[--i] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	ins_line_bytes(line, digits + i, sizeof digits - i);
}

void ins_line_hex(struct ins_line *line, uint64_t number)
{
	char digits[16];
	size_t i = sizeof digits;

	do {
		digits[--i] = "0123456789abcdef"[number & 15];
		number >>= 4;
	} while (number);
	ins_line_bytes(line, "0x", 2);
	ins_line_bytes(line, digits + i, sizeof digits - i);
}

void ins_line_quoted(struct ins_line *line, const char *text)
{
	ins_plain_quoted(text, line->at, (size_t)(line->end - line->at) + 1);
	line->at += strlen(line->at);
}

/* How many columns a terminal gives to text: a character each, whatever its bytes. */
static size_t columns(const char *text, const char *end)
{
	size_t n = 0;

	for (; text < end; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

void ins_line_fill(struct ins_line *line, const char *from, size_t width)
{
	size_t used = columns(from, line->at), room = (size_t)(line->end - line->at);

	if (used >= width)
		return;
	if (width - used < room)
		room = width - used;
	memset(line->at, ' ', room);
	line->at += room;
	*line->at = 0;
}

void ins_line_right(struct ins_line *line, char *from, size_t width)
{
	size_t used = columns(from, line->at), size = (size_t)(line->at - from);

	ins_line_fill(line, from, width);
	if (used >= width || (size_t)(line->at - from) != size + width - used)
		return;
	memmove(from + (width - used), from, size);
	memset(from, ' ', width - used);
}
