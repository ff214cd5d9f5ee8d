/* SPDX-License-Identifier: MIT */
/*
 * escape.h - escape untrusted text for a terminal
 *
 * Names, paths and messages come from programs that may be hostile or broken. No byte of them may
 * move a cursor, and two different texts should not look the same.
 */
#ifndef INS_ESCAPE_H
#define INS_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Replace the bytes of control characters, of invisible characters and of invalid UTF-8 by \xNN.
 * Truncated at a whole character if it does not fit size, which is at least 1. Returns buf.
 */
const char *ins_escape(const char *text, char *buf, size_t size);

/*
 * Like ins_escape(), with a backslash before a quote and a backslash: unambiguous between quotes.
 * Returns buf.
 */
const char *ins_escape_quoted(const char *text, char *buf, size_t size);

/* Like the two above, for appending: return the position of the NUL. */
char *ins_escape_append(const char *text, char *buf, size_t size);
char *ins_escape_append_quoted(const char *text, char *buf, size_t size);

/* The length of the UTF-8 character that text starts with, 1 to 4; 0: it starts with none. */
size_t ins_utf8_length(const char *text);

/* Like ins_utf8_length(), and 0 also if that character must be escaped: control or invisible. */
size_t ins_utf8_printable(const char *text);

/* The character that text starts with; U+FFFD if it starts with none. */
uint32_t ins_utf8_decode(const char *text);

#endif
