/* SPDX-License-Identifier: MIT */
/* prom.h - check a text for Prometheus against the format's rules, and read numbers from it */
#ifndef HARNESS_CLI_PROM_H
#define HARNESS_CLI_PROM_H

#include <stdbool.h>

/*
 * Assert that text is what Prometheus and promtool(1) accept. Each family has one HELP and one TYPE
 * before its samples, and its samples are together. Names and labels are well-formed; no two
 * samples have the same name and labels. Counters, and only they, end in _total. The buckets of a
 * histogram are in order and do not decrease, the last is +Inf and equals the count, and there is a
 * sum.
 */
void prom_check(const char *text);

/* prom_check() without asserting: true if text is wrong, with the fault and its place in
 * `fault`. */
#define PROM_FAULT 512
bool prom_find_fault(const char *text, char fault[PROM_FAULT]);

/* The number of the sample written as `name{label="value",...}`. Asserts that it exists. */
double prom_value(const char *text, const char *series);

/* The sum over all samples of this name whose labels contain `part`; their number in *ret_count,
 * which may be NULL. */
double prom_sum(const char *text, const char *name, const char *part, unsigned *ret_count);

/* The value of the only sample of this name whose label has this value. */
double prom_only(const char *text, const char *name, const char *label, const char *value);

/* Run `fiberctl metrics` on a process or a snapshot: its text, checked, which the caller frees. */
char *prom_metrics(const char *who);

#endif
