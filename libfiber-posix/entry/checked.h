/* SPDX-License-Identifier: MIT */
/* checked.h - what _FORTIFY_SOURCE checks */
#ifndef FPX_ENTRY_CHECKED_H
#define FPX_ENTRY_CHECKED_H

#include <stddef.h>

/* The C library's: prints a line and aborts. */
extern void __chk_fail(void) __attribute__((noreturn));

/* Abort as the C library does if size bytes do not fit. */
static inline void fpx_check_room(size_t size, size_t room)
{
	if (size > room)
		__chk_fail();
}

#endif
