/* SPDX-License-Identifier: MIT */
/*
 * cmocka.c - let a failed assertion abort, with its message on stderr
 *
 * cmocka 1.1 writes messages to stderr. From 2.0 on it writes them to stdout, into the output of the
 * test program, unless it is given a function. That one is in no older version, so it is weak. The
 * environment variable CMOCKA_ERROR_OUTPUT would be too late: cmocka reads it once, and the process
 * is forked.
 */
#include "explore/cmocka.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* As struct CMCallbacks of cmocka.h. */
struct callbacks {
	void (*message)(const char *fmt, va_list ap);
	void (*error)(const char *fmt, va_list ap);
};

void cmocka_set_callbacks(const struct callbacks *callbacks) __attribute__((weak));

static void write_error(const char *fmt, va_list ap)
{
	vfprintf(stderr, fmt, ap);
	fflush(stderr);
}

void fib_cmocka_settle(void)
{
	static const struct callbacks to_stderr = {NULL, write_error};

	setenv("CMOCKA_TEST_ABORT", "1", 1);
	if (cmocka_set_callbacks)
		cmocka_set_callbacks(&to_stderr);
}
