/* SPDX-License-Identifier: MIT */
/* checked.h - what _FORTIFY_SOURCE checks */
#ifndef FPX_ENTRY_CHECKED_H
#define FPX_ENTRY_CHECKED_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call/open.h"
#include "system/system.h"

/* The C library's: prints a line and aborts. */
extern void __chk_fail(void) __attribute__((noreturn));

/* Abort as the C library does if size bytes do not fit. */
static inline void fpx_check_room(size_t size, size_t room)
{
	if (size > room)
		__chk_fail();
}

/* Abort as the C library does if an open that may make a file has no mode. call: its name. */
static inline void fpx_check_mode(const char *call, int flags)
{
	char line[96];

	if (!fpx_makes_file(flags))
		return;
	snprintf(line, sizeof line,
		 "*** invalid %s call: O_CREAT or O_TMPFILE without mode ***: terminated\n", call);
	(void)!fpx_system.write(STDERR_FILENO, line, strlen(line));
	abort();
}

#endif
