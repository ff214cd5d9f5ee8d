/* SPDX-License-Identifier: MIT */
/*
 * escape.h - write texts of the program into reports
 *
 * Names and messages come from the program under test. All output is ASCII without control
 * characters, so no name can move a cursor or end a string early.
 */
#ifndef FIB_TEST_ESCAPE_H
#define FIB_TEST_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One line: a byte that is not printable ASCII becomes \xNN, as in fib_text_plain(). */
void fib_put_plain(FILE *out, const char *text);

/* The same, into buf, cut where it is full. Returns buf. */
const char *fib_plain(const char *text, char *buf, size_t size);

/* Lines: as fib_put_plain(), but newlines stay and tabs become blanks. indent: before each line. */
void fib_put_lines(FILE *out, const char *text, const char *indent);

/* A JSON string with its quotes; NULL: null. Bytes that are not UTF-8 become U+FFFD. */
void fib_put_json(FILE *out, const char *text);

/* A member of a JSON object and a comma; null: an empty text, a number that is not known. */
void fib_put_text_member(FILE *out, const char *key, const char *text);
void fib_put_number_member(FILE *out, const char *key, uint64_t number, bool known);

/*
 * Text for XML 1.0, in an element or an attribute. XML has no control characters, also not as
 * references: these, and bytes that are not UTF-8, become \xNN. Newlines stay.
 */
void fib_put_xml(FILE *out, const char *text);

#endif
