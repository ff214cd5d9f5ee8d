/* SPDX-License-Identifier: MIT */
/* log.c - one line, one write. */
#include "base/log.h"

#include <stdio.h>
#include <unistd.h>

void fib_vlog(const char *fmt, va_list ap)
{
	static const char prefix[] = "libfiber: ";
	char line[512] = "libfiber: ";
	int at = (int)sizeof prefix - 1;
	int room = (int)sizeof line - at - 1;
	int n = vsnprintf(line + at, (size_t)room, fmt, ap);
	ssize_t done;

	if (n < 0)
		n = 0;
	if (n > room - 1)
		n = room - 1;
	line[at + n] = '\n';
	done = write(STDERR_FILENO, line, (size_t)(at + n + 1));
	(void)done; /* nobody is left to tell */
}

void fib_log(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fib_vlog(fmt, ap);
	va_end(ap);
}
