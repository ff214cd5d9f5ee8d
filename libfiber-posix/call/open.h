/* SPDX-License-Identifier: MIT */
/* open.h - the arguments of open(2) */
#ifndef FPX_CALL_OPEN_H
#define FPX_CALL_OPEN_H

#include <fcntl.h>
#include <stdbool.h>

/* Whether an open with these flags may make a file, and so has a mode as its last argument. */
static inline bool fpx_makes_file(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

#endif
