/* SPDX-License-Identifier: MIT */
/*
 * log.c - write one line with one write(2)
 *
 * Lines go to a terminal, and the paths, settings and names in them come from outside. Therefore
 * the whole line is escaped after formatting: no caller can forget it.
 */
#include "base/log.h"

#include <stdio.h>
#include <unistd.h>

#include "base/text.h"

#define RAW  512  /* before bytes are escaped */
#define LINE 1024 /* with the newline */

void fib_vlog(const char *fmt, va_list ap)
{
	char raw[RAW], line[LINE];
	struct fib_text text = {.buf = line, .size = sizeof line - 1};
	ssize_t done;

	if (vsnprintf(raw, sizeof raw, fmt, ap) < 0)
		raw[0] = 0;
	fib_text_put(&text, "libfiber: ");
	fib_text_plain(&text, raw, sizeof raw);
	line[text.used] = '\n';
	done = write(STDERR_FILENO, line, text.used + 1);
	(void)done; /* an error cannot be reported anywhere */
}

void fib_log(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fib_vlog(fmt, ap);
	va_end(ap);
}

const char *fib_log_name(char buf[FIB_LOG_NAME], const char *name)
{
	struct fib_text text = {.buf = buf, .size = FIB_LOG_NAME - 1};

	fib_text_quoted(&text, name, FIB_LOG_NAME / 4 - 1);
	buf[text.used] = 0;
	return buf;
}
