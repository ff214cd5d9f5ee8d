/* SPDX-License-Identifier: MIT */
/* report.h - print errors on standard error and return the exit code */
#ifndef TOOL_REPORT_H
#define TOOL_REPORT_H

struct tool_command;

/* Print one line on stderr, "fiberctl: what: why". Returns TOOL_CANNOT. */
int tool_cannot(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Print a usage error and which help to read: the command's, or the tool's if command is NULL.
 * Returns TOOL_USAGE.
 */
int tool_wrong(const struct tool_command *command, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * The exit code after all output: `code`, or TOOL_PARTIAL with a line on stderr if stdout could not
 * be written.
 */
int tool_written(int code);

#endif
