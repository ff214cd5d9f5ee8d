/* SPDX-License-Identifier: MIT */
/*
 * escape.h - text from elsewhere, made harmless for a terminal
 *
 * Names, paths and messages come from programs that may be hostile or broken. No byte of them may
 * move a cursor, and two different ones should not look the same.
 */
#ifndef INS_ESCAPE_H
#define INS_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

/* The bytes of control characters, of invisible ones and of what is no UTF-8 become \xNN; cut at a whole character where
 * it does not fit size, which is at least 1. Returns buf. */
const char *ins_escape(const char *text, char *buf, size_t size);

/* The same, and a quote and a backslash get a backslash: unambiguous between quotes. Returns buf. */
const char *ins_escape_quoted(const char *text, char *buf, size_t size);

/* Each of them for who goes on behind it: returns where the NUL is. */
char *ins_escape_append(const char *text, char *buf, size_t size);
char *ins_escape_append_quoted(const char *text, char *buf, size_t size);

/* The bytes of the UTF-8 character that text begins with, 1 to 4; 0 when it begins with none. */
size_t ins_utf8_length(const char *text);

/* The same, and 0 also when that character may not be shown as it is: a terminal would obey it, or no reader would see it. */
size_t ins_utf8_printable(const char *text);

/* The character that text begins with; U+FFFD when it begins with none. */
uint32_t ins_utf8_decode(const char *text);

#endif
