/* SPDX-License-Identifier: MIT */
/* report.c - print errors on standard error and return the exit code */
#include "tool/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "inspect/text/escape.h"
#include "tool/tool.h"

int tool_cannot(const char *fmt, ...)
{
	char text[8192], plain[4 * sizeof text];
	va_list ap;

	fflush(stdout);
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	/* Escaped, because the text may contain the refusing program's words. */
	fprintf(stderr, "%s: %s\n", tool->name, ins_escape(text, plain, sizeof plain));
	return TOOL_CANNOT;
}

int tool_wrong(const struct tool_command *command, const char *fmt, ...)
{
	char text[8192], plain[4 * sizeof text];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	/* Escaped, because a script may pass on names from a program. */
	fprintf(stderr, "%s: %s", tool->name, ins_escape(text, plain, sizeof plain));
	if (command && command->name && command->name[0])
		fprintf(stderr, "\nTry '%s help %s'.\n", tool->name, command->name);
	else
		fprintf(stderr, "\nTry '%s --help'.\n", tool->name);
	return TOOL_USAGE;
}

/* Why stdout cannot be written; the error may be of an earlier write. */
static const char *why_unwritten(void)
{
	if (!errno && write(STDOUT_FILENO, "", 0) == 0)
		return "an earlier write failed";
	return errno == EBADF ? "it is closed" : strerror(errno);
}

int tool_written(int code)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	tool_cannot("standard output: what was written is not whole: %s", why_unwritten());
	return TOOL_PARTIAL;
}
