/* SPDX-License-Identifier: MIT */
/*
 * open.c - the program's own opening of files
 *
 * A call of a fiber of a schedule may fail (explore/faults.h). Everything else is the system's. The
 * C library's functions are called, because they are points of cancellation. fopen(3) and the like
 * call the system inside the C library and do not fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/types.h>

#include "explore/faults.h"
#include "libc/linked.h"
#include "net/own.h"
#include "net/real.h"

const char fib_libc_open;

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);

static bool has_mode(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

/* Whether the program's call fails, by a fault. Then errno is set. */
static bool fails(const struct fib_call *call, int flags)
{
	const int rc = fib_fault_of_open(call, flags);

	if (rc < 0)
		errno = -rc;
	return rc < 0;
}

#define MODE_OF(flags, mode)                         \
	do {                                         \
		va_list ap;                          \
                                                     \
		va_start(ap, flags);                 \
		if (has_mode(flags))                 \
			(mode) = va_arg(ap, mode_t); \
		va_end(ap);                          \
	} while (0)

int open(const char *path, int flags, ...)
{
	mode_t mode = 0;

	MODE_OF(flags, mode);
	return fails(FIB_CALL_HERE, flags) ? -1 : fib_real()->open(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	mode_t mode = 0;

	MODE_OF(flags, mode);
	return fails(FIB_CALL_HERE, flags) ? -1 : fib_real()->open64(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
	mode_t mode = 0;

	MODE_OF(flags, mode);
	return fails(FIB_CALL_HERE, flags) ? -1 : fib_real()->openat(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...)
{
	mode_t mode = 0;

	MODE_OF(flags, mode);
	return fails(FIB_CALL_HERE, flags) ? -1 : fib_real()->openat64(folder, path, flags, mode);
}

int creat(const char *path, mode_t mode)
{
	const int flags = O_CREAT | O_WRONLY | O_TRUNC;

	return fails(FIB_CALL_HERE, flags) ? -1 : fib_real()->open(path, flags, mode);
}

int creat64(const char *path, mode_t mode)
{
	const int flags = O_CREAT | O_WRONLY | O_TRUNC;

	return fails(FIB_CALL_HERE, flags) ? -1 : fib_real()->open64(path, flags, mode);
}

/* -- the library's own -- */

int fib_own_open(const char *path, int flags, ...)
{
	mode_t mode = 0;

	MODE_OF(flags, mode);
	return fib_real()->open(path, flags, mode);
}

int fib_own_open64(const char *path, int flags, ...)
{
	mode_t mode = 0;

	MODE_OF(flags, mode);
	return fib_real()->open64(path, flags, mode);
}

/*
 * -- programs compiled with _FORTIFY_SOURCE --
 *
 * They call these where the flags are not known and there is no mode.
 */

int __open_2(const char *path, int flags)
{
	const struct fib_call call = {"open", __builtin_return_address(0)};

	return fails(&call, flags) ? -1 : fib_real()->__open_2(path, flags);
}

int __open64_2(const char *path, int flags)
{
	const struct fib_call call = {"open64", __builtin_return_address(0)};

	return fails(&call, flags) ? -1 : fib_real()->__open64_2(path, flags);
}

int __openat_2(int folder, const char *path, int flags)
{
	const struct fib_call call = {"openat", __builtin_return_address(0)};

	return fails(&call, flags) ? -1 : fib_real()->__openat_2(folder, path, flags);
}

int __openat64_2(int folder, const char *path, int flags)
{
	const struct fib_call call = {"openat64", __builtin_return_address(0)};

	return fails(&call, flags) ? -1 : fib_real()->__openat64_2(folder, path, flags);
}
