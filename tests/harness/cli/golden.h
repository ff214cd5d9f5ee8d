/* SPDX-License-Identifier: MIT */
/* golden.h - compare a tool's output without what differs from run to run */
#ifndef HARNESS_CLI_GOLDEN_H
#define HARNESS_CLI_GOLDEN_H

#include <jansson.h>

/*
 * Normalize in place: every address becomes "@" (also in an object's name, "@0x..."), every
 * duration "T"; the lines of frames are removed.
 */
void golden_text(char *text);

/* Assert that the normalized text equals `expected`. Shows the first line that differs. */
void golden_expect(char *text, const char *expected);

/* Remove the keys of a list "key key ..." from a value and from all that it contains. */
void golden_without(json_t *value, const char *keys);

/* Assert that two values are equal and release both. Shows both if they differ. */
void golden_expect_json(json_t *value, json_t *expected);

#endif
