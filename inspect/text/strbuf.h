/* SPDX-License-Identifier: MIT */
/*
 * strbuf.h - build a line of text piece by piece
 *
 * A list of a million fibers has twenty million pieces of text, so a piece must be cheap (strbuf.c).
 *
 * A line is in a buffer of the caller. It is truncated at the end of the buffer and always has a
 * NUL.
 */
#ifndef INS_STRBUF_H
#define INS_STRBUF_H

#include <stddef.h>
#include <stdint.h>

struct ins_strbuf {
	char *at;  /* where the next piece goes; it holds a NUL */
	char *end; /* of the buffer: the place of the last NUL */
};

/* size is at least 1. */
struct ins_strbuf ins_strbuf(char *buf, size_t size);

void ins_strbuf_text(struct ins_strbuf *line, const char *text);
void ins_strbuf_bytes(struct ins_strbuf *line, const char *bytes, size_t n);
void ins_strbuf_char(struct ins_strbuf *line, char c);
void ins_strbuf_number(struct ins_strbuf *line, uint64_t number);
void ins_strbuf_hex(struct ins_strbuf *line, uint64_t number); /* "0x..." */

/* Append untrusted text, escaped (escape.h); the second one for use between quotes. */
void ins_strbuf_escaped(struct ins_strbuf *line, const char *text);
void ins_strbuf_quoted(struct ins_strbuf *line, const char *text);

/* Pad the text since `from` with blanks to width columns: on its right, or on its left. */
void ins_strbuf_fill(struct ins_strbuf *line, const char *from, size_t width);
void ins_strbuf_right(struct ins_strbuf *line, char *from, size_t width);

#endif
