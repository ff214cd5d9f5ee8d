/* SPDX-License-Identifier: MIT */
/* futex.c - syscall(2), of which only futex(2) differs. In the shared library alone, as pthreads.c */
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "entry/entry.h"
#include "system/native.h"
#include "threads/futex.h"

#define ARGUMENTS 6

FPX_ENTRY long syscall(long number, ...)
{
	long a[ARGUMENTS];
	va_list args;

	/* The C library's function takes as many, whatever the caller gave. */
	va_start(args, number);
	for (int i = 0; i < ARGUMENTS; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_futex && fpx_linked && !fpx_is_libfiber(FPX_CALLER))
		return fpx_futex(a);
	return fpx_native.syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
