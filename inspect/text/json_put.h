/* SPDX-License-Identifier: MIT */
/*
 * json_put.h - write JSON in which no text moves a cursor or is invisible
 *
 * JSON goes to terminals, and names in it come from a program that may be hostile. A character that escape.h does not show
 * is written as \uXXXX, two of them above U+FFFF: it is the same text to whatever parses it.
 */
#ifndef INS_JSON_PUT_H
#define INS_JSON_PUT_H

#include <jansson.h>
#include <stdio.h>

/* Write value in one line, any JSON value. 0, or -ENOMEM; whether out could be written its owner finds out. */
int ins_json_put(FILE *out, const json_t *value);

/* One JSON string. A byte that is no UTF-8 becomes U+FFFD. */
void ins_json_put_text(FILE *out, const char *text);

#endif
