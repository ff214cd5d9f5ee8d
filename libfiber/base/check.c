/* SPDX-License-Identifier: MIT */
/* check.c - the last line a program prints. */
#include "base/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"

_Noreturn void fib_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fib_vlog(fmt, ap);
	va_end(ap);
	abort();
}
