/* SPDX-License-Identifier: MIT */
/* duration.h - lengths of time as people type them. */
#ifndef INS_DURATION_H
#define INS_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/* "150ns", "20us", "20ms", "1.5s", "2m", "3h", "1d", and "2m14s" as the tools print it; a number alone is seconds. *ret
 * in ns. False for anything else, and for what is longer than 292 years. */
bool ins_duration_parse(const char *text, int64_t *ret);

/* Whether text, which is a length of time, is a number alone: where a usual one is shorter, seconds are hardly meant. */
bool ins_duration_bare(const char *text);

/* ns of CLOCK_MONOTONIC. */
int64_t ins_duration_now(void);

#endif
