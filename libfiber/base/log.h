/* SPDX-License-Identifier: MIT */
/* log.h - messages of the library on stderr */
#ifndef FIB_BASE_LOG_H
#define FIB_BASE_LOG_H

#include <stdarg.h>

#include "base/compiler.h"

/*
 * Write "libfiber: <text>\n" to stderr in one write(2). The text is cut at 511 bytes. Then each
 * byte that is not printable ASCII becomes \xNN, and the line is cut at 1,024 bytes. No allocation,
 * no stdio stream, no lock: it may be used in a signal handler with integers and strings. A string
 * from outside needs a bound: "%.40s".
 */
void fib_log(const char *fmt, ...) fib_printf(1, 2);
void fib_vlog(const char *fmt, va_list ap) fib_printf(1, 0);

#define FIB_LOG_NAME 132

/* Write a fiber's name for a message, in quotes, as fib_text_quoted() does. A name of more than 32
 * bytes is cut. Returns buf. */
const char *fib_log_name(char buf[FIB_LOG_NAME], const char *name);

#endif
