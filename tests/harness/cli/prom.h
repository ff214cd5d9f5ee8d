/* SPDX-License-Identifier: MIT */
/* prom.h - text for Prometheus, checked against its rules, and the numbers in it. */
#ifndef HARNESS_CLI_PROM_H
#define HARNESS_CLI_PROM_H

#include <stdbool.h>

/*
 * Assert that text is what Prometheus and promtool(1) accept: each family has its HELP and its TYPE before its samples, once,
 * and its samples together; names and labels are well-formed, no two samples have the same; counters
 * end in _total and nothing else does; a histogram's buckets are in order, none below the one before, the last is +Inf
 * and equal to its count, and there is a sum.
 */
void prom_check(const char *text);

/* The same without asserting: whether it is not so, and in fault what is wrong where. */
#define PROM_FAULT 512
bool prom_find_fault(const char *text, char fault[PROM_FAULT]);

/* The number of the sample that is written like that: `name{label="value",...}`. Asserts that there is one. */
double prom_value(const char *text, const char *series);

/* The sum over all samples of that name whose labels contain `part`. *ret_count, which may be NULL: how many they are. */
double prom_sum(const char *text, const char *name, const char *part, unsigned *ret_count);

#endif
