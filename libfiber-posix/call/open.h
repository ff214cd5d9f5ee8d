/* SPDX-License-Identifier: MIT */
/* open.h - the arguments of open(2) */
#ifndef FPX_CALL_OPEN_H
#define FPX_CALL_OPEN_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>

/* Whether an open with these flags may make a file, and so has a mode as its last argument. */
static inline bool fpx_makes_file(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

/* In a function with `flags, ...`: the mode that follows; 0 if there is none. */
#define FPX_MODE_AFTER(flags)                          \
	({                                             \
		mode_t mode_ = 0;                      \
		va_list args_;                         \
                                                       \
		va_start(args_, flags);                \
		if (fpx_makes_file(flags))             \
			mode_ = va_arg(args_, mode_t); \
		va_end(args_);                         \
		mode_;                                 \
	})

#endif
