/* SPDX-License-Identifier: MIT */
/* check.c - print one line and abort */
#include "base/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/atomic.h"
#include "base/log.h"

static void (*_Atomic caller)(char text[FIB_CHECK_CALLER]);

_Noreturn void fib_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fib_vlog(fmt, ap);
	va_end(ap);
	abort();
}

void fib_check_set_caller(void (*fn)(char text[FIB_CHECK_CALLER]))
{
	fib_store(&caller, fn);
}

_Noreturn void fib_die_null(const char *call, const char *what)
{
	void (*who)(char text[FIB_CHECK_CALLER]) = fib_load(&caller);
	char text[FIB_CHECK_CALLER];

	if (!who)
		fib_die("%s: %s is NULL", call, what);
	who(text);
	fib_die("%s: %s: %s is NULL", text, call, what);
}
