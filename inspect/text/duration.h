/* SPDX-License-Identifier: MIT */
/* duration.h - parse and format lengths of time */
#ifndef INS_DURATION_H
#define INS_DURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/text/strbuf.h"

/*
 * Parse "150ns", "20us", "20ms", "1.5s", "2m", "3h", "1d", and "2m14s" as the tools print it. A
 * number alone is seconds. *ret is in ns. False for anything else, and for more than 292 years.
 */
bool ins_duration_parse(const char *text, int64_t *ret);

/*
 * Whether text, which is a valid length of time, is a number without a unit. Where usual values are
 * shorter than a second, seconds are hardly meant.
 */
bool ins_duration_bare(const char *text);

/*
 * Format "2m14s", "1.2s", "350ms", "12us", "0s": at most two units. The first returns buf; the
 * second appends to line.
 */
const char *ins_duration_text(int64_t ns, char *buf, size_t size);
void ins_duration_say(struct ins_strbuf *line, int64_t ns);

/*
 * The same in seconds alone, for a column of a table, where values are compared: "0.404s", "15.2s",
 * "439200s". Less than a millisecond is "0.000s"; nothing at all is "0s".
 */
const char *ins_duration_seconds(int64_t ns, char *buf, size_t size);
void ins_duration_say_seconds(struct ins_strbuf *line, int64_t ns);

/*
 * For a column of values that differ by more: all in the unit that suits the largest one, with three
 * decimals, "3200.000ms" and "0.012ms"; nothing at all is "0ms". Returns buf.
 */
const char *ins_duration_column(int64_t ns, int64_t largest, char *buf, size_t size);

/* ns of CLOCK_MONOTONIC. */
int64_t ins_duration_now(void);

#endif
