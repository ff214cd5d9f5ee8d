/* SPDX-License-Identifier: MIT */
/* report.h - the report of a schedule with a finding: its fibers and its trace */
#ifndef FIB_TEST_REPORT_H
#define FIB_TEST_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Record the calls of the traced schedule that starts now. */
void fib_report_begin(void);

/* Whether that was called: a finding should then say more than its message. */
bool fib_report_is_wanted(void);

/* Put a text, which stays, before the fibers and the trace. */
void fib_report_begin_with(const char *text);

/* A line of the program's own in the trace. */
void fib_report_note(uint32_t number, const char *text, const void *at);

/* A call fails in a way, in words, that the schedule has chosen. */
void fib_report_fault(uint32_t number, const char *call, const char *way, const void *at);

/* Write the fibers that are left and the trace near switches. By the process of the schedule. */
void fib_report_write(char *buf, size_t size);

/* Write the whole trace, a line for each step. */
void fib_report_trace(int fd);

/* Write the members "fibers", "deadlocks" and "trace" of a JSON object, without its braces. */
void fib_report_json(int fd);

#endif
