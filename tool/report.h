/* SPDX-License-Identifier: MIT */
/* report.h - what a command could not do, said on standard error, and the exit code for it. */
#ifndef TOOL_REPORT_H
#define TOOL_REPORT_H

struct tool_command;

/* Print one line on stderr, "fiberctl: what: why". Returns TOOL_CANNOT. */
int tool_cannot(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same for wrong usage, and which help to read: the command's, the tool's without one. Returns TOOL_USAGE. */
int tool_wrong(const struct tool_command *command, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The exit code after everything was printed to stdout: `code`, or TOOL_PARTIAL with a line on stderr when it could
 * not be written. */
int tool_written(int code);

#endif
