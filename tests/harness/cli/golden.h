/* SPDX-License-Identifier: MIT */
/* golden.h - what a tool prints, without what is another in every run. */
#ifndef HARNESS_CLI_GOLDEN_H
#define HARNESS_CLI_GOLDEN_H

#include <jansson.h>

/*
 * In place: every address becomes "@" (also the one behind an object's name, "@0x..."), every length of time "T", and the lines of
 * frames go.
 */
void golden_text(char *text);

/* Assert that it is the expected text after that. Shows the first line that differs. */
void golden_expect(char *text, const char *expected);

/* Take the keys of a list "key key ..." out of a value and all that is in it. */
void golden_without(json_t *value, const char *keys);

/* Assert that two values are equal; both are released. Shows both when they are not. */
void golden_expect_json(json_t *value, json_t *expected);

#endif
