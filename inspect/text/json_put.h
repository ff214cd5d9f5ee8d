/* SPDX-License-Identifier: MIT */
/*
 * json_put.h - write JSON with control and invisible characters escaped
 *
 * JSON is shown on terminals, and names in it come from a program that may be hostile. A character
 * that escape.h does not show is written as \uXXXX, two of them above U+FFFF. A JSON parser reads
 * the same text.
 */
#ifndef INS_JSON_PUT_H
#define INS_JSON_PUT_H

#include <jansson.h>
#include <stdio.h>

/*
 * Write any JSON value in one line. Returns 0 or -ENOMEM; the caller checks out for write errors.
 */
int ins_json_put(FILE *out, const json_t *value);

/* Write one JSON string. A byte that is not UTF-8 becomes U+FFFD. */
void ins_json_put_text(FILE *out, const char *text);

#endif
