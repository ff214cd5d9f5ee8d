/* SPDX-License-Identifier: MIT */
/* duration.h - lengths of time as people type and read them. */
#ifndef INS_DURATION_H
#define INS_DURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/text/strbuf.h"

/* "150ns", "20us", "20ms", "1.5s", "2m", "3h", "1d", and "2m14s" as the tools print it; a number alone is seconds. *ret
 * in ns. False for anything else, and for what is longer than 292 years. */
bool ins_duration_parse(const char *text, int64_t *ret);

/* Whether text, which is a length of time, is a number alone: where a usual one is shorter, seconds are hardly meant. */
bool ins_duration_bare(const char *text);

/* "2m14s", "1.2s", "350ms", "12us", "0s": at most two units. Returns buf; the second one appends it. */
const char *ins_duration_text(int64_t ns, char *buf, size_t size);
void ins_duration_say(struct ins_strbuf *line, int64_t ns);

/* ns of CLOCK_MONOTONIC. */
int64_t ins_duration_now(void);

#endif
