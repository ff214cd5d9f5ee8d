/* SPDX-License-Identifier: MIT */
/*
 * line.h - a line of text that is put together piece by piece
 *
 * A list of a million fibers has twenty million pieces of text, so a piece must be cheap (line.c).
 *
 * A line is in a buffer of the caller's. It is cut where the buffer ends and always has a NUL.
 */
#ifndef INS_LINE_H
#define INS_LINE_H

#include <stddef.h>
#include <stdint.h>

struct ins_line {
	char *at;  /* where the next piece goes: a NUL stands there */
	char *end; /* of the buffer: for the last NUL */
};

/* size is at least 1. */
struct ins_line ins_line(char *buf, size_t size);

void ins_line_text(struct ins_line *line, const char *text);
void ins_line_bytes(struct ins_line *line, const char *bytes, size_t n);
void ins_line_char(struct ins_line *line, char c);
void ins_line_number(struct ins_line *line, uint64_t number);
void ins_line_hex(struct ins_line *line, uint64_t number); /* "0x..." */

/* A text that may be anything, made harmless; the second one between quotes: see plain.h. */
void ins_line_plain(struct ins_line *line, const char *text);
void ins_line_quoted(struct ins_line *line, const char *text);

/* Blanks until what was put since `from` fills width columns: behind it, or before it. */
void ins_line_fill(struct ins_line *line, const char *from, size_t width);
void ins_line_right(struct ins_line *line, char *from, size_t width);

#endif
