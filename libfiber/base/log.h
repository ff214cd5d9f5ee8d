/* SPDX-License-Identifier: MIT */
/* log.h - the library's few words on stderr. */
#ifndef FIB_BASE_LOG_H
#define FIB_BASE_LOG_H

#include <stdarg.h>

#include "base/compiler.h"

/* Write "libfiber: <text>\n" to stderr in one write(2), cut at 511 bytes. No allocation, no stdio
 * stream, no lock: usable from a signal handler with integers and strings. */
void fib_log(const char *fmt, ...) fib_printf(1, 2);
void fib_vlog(const char *fmt, va_list ap) fib_printf(1, 0);

#endif
