/* SPDX-License-Identifier: MIT */
/* number.c - format numbers of a program by the encoding of their type */
#include "inspect/text/number.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "inspect/text/escape.h"

static void put_signed(struct ins_strbuf *line, int64_t number)
{
	if (number < 0)
		ins_strbuf_char(line, '-');
	ins_strbuf_number(line, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

static void put_character(struct ins_strbuf *line, int64_t number)
{
	const char letter[2] = {(char)number, 0};
	char plain[16];

	put_signed(line, number);
	if (number <= 0 || number > 255)
		return;
	ins_strbuf_text(line, " '");
	ins_strbuf_text(line, ins_escape_quoted(letter, plain, sizeof plain));
	ins_strbuf_char(line, '\'');
}

bool ins_number_float(struct ins_strbuf *line, const void *bytes, size_t size)
{
	long double l = 0;
	char text[64];
	double d;
	float f;

	if (size == sizeof f) {
		memcpy(&f, bytes, sizeof f);
		snprintf(text, sizeof text, "%.9g", (double)f);
	} else if (size == sizeof d) {
		memcpy(&d, bytes, sizeof d);
		snprintf(text, sizeof text, "%.17g", d);
	} else if (size == sizeof l) {
		memcpy(&l, bytes, sizeof l);
		snprintf(text, sizeof text, "%.18Lg", l);
	} else {
		ins_strbuf_text(line, "<cannot be shown: a float of an unknown size>");
		return false;
	}
	ins_strbuf_text(line, text);
	return true;
}

void ins_number_put(struct ins_strbuf *line, unsigned long encoding, uint64_t number)
{
	if (encoding == DW_ATE_boolean && number <= 1)
		ins_strbuf_text(line, number ? "true" : "false");
	else if (encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char ||
		 encoding == DW_ATE_UTF)
		put_character(line, (int64_t)number);
	else if (encoding == DW_ATE_signed)
		put_signed(line, (int64_t)number);
	else
		ins_strbuf_number(line, number);
}
