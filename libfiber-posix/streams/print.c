/* SPDX-License-Identifier: MIT */
/* print.c - printf(3), scanf(3) and their variants by another name */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include <fiber/fiber.h>
#include <fiber/posix.h>

#include "call/park.h"
#include "streams/calls.h"
#include "streams/format.h"
#include "streams/hold.h"
#include "streams/scan.h"
#include "streams/write.h"
#include "system/streams.h"

/* Call fn with the arguments that follow `last`. */
#define WITH_ARGS(last, fn, ...)           \
	do {                               \
		va_list args;              \
		int n;                     \
                                           \
		va_start(args, last);      \
		n = fn(__VA_ARGS__, args); \
		va_end(args);              \
		return n;                  \
	} while (0)

/* The C library's without a flag is not the one with flag 0: it has its own name in backtraces. */
__attribute__((format(printf, 3, 0))) static int native(FILE *stream, int flag, const char *format,
							va_list args)
{
	return flag ? fpx_streams.__vfprintf_chk(stream, flag, format, args)
		    : fpx_streams.vfprintf(stream, format, args);
}

__attribute__((format(printf, 3, 0))) static int in_fiber(FILE *stream, int flag,
							  const char *format, va_list args)
{
	struct fpx_text text;
	size_t done;
	bool good;

	if (fpx_text_make(&text, flag, format, args) < 0)
		return -1;
	good = fpx_put_bytes(stream, text.at, (size_t)text.size, &done);
	fpx_text_free(&text);
	return good ? text.size : -1;
}

int fpx_vfprintf_chk(FILE *stream, int flag, const char *format, va_list args)
{
	struct fpx_use use;
	int n;

	if (!fiber_self())
		return native(stream, flag, format, args);
	use = fpx_enter(stream);
	n = use.waits ? in_fiber(stream, flag, format, args) : native(stream, flag, format, args);
	fpx_leave(stream, use);
	return n;
}

int fpx_vdprintf_chk(int fd, int flag, const char *format, va_list args)
{
	struct fpx_text text;
	ssize_t n = 0;
	int done;

	if (!fpx_parks())
		return flag ? fpx_streams.__vdprintf_chk(fd, flag, format, args)
			    : fpx_streams.vdprintf(fd, format, args);
	if (fpx_text_make(&text, flag, format, args) < 0)
		return -1;
	for (done = 0; done < text.size; done += (int)n) {
		n = fiber_posix_write(fd, text.at + done, (size_t)(text.size - done));
		if (n <= 0)
			break;
	}
	fpx_text_free(&text);
	return done == text.size ? done : -1;
}

static int scan(FILE *stream, int (*fn)(FILE *, const char *, va_list), const char *format,
		va_list args)
{
	struct fpx_use use;
	int n;

	if (!fiber_self())
		return fn(stream, format, args);
	use = fpx_enter(stream);
	n = use.waits ? fpx_scan(stream, fn, format, args) : fn(stream, format, args);
	fpx_leave(stream, use);
	return n;
}

int fpx_old_fscanf(FILE *stream, const char *format, va_list args)
{
	return scan(stream, fpx_streams.old_vfscanf, format, args);
}

int fiber_posix_vfprintf(FILE *stream, const char *format, va_list args)
{
	return fpx_vfprintf_chk(stream, 0, format, args);
}

int fiber_posix_vprintf(const char *format, va_list args)
{
	return fiber_posix_vfprintf(stdout, format, args);
}

int fiber_posix_fprintf(FILE *stream, const char *format, ...)
{
	WITH_ARGS(format, fiber_posix_vfprintf, stream, format);
}

int fiber_posix_printf(const char *format, ...)
{
	WITH_ARGS(format, fiber_posix_vfprintf, stdout, format);
}

int fiber_posix_vdprintf(int fd, const char *format, va_list args)
{
	return fpx_vdprintf_chk(fd, 0, format, args);
}

int fiber_posix_dprintf(int fd, const char *format, ...)
{
	WITH_ARGS(format, fiber_posix_vdprintf, fd, format);
}

int fiber_posix_vfscanf(FILE *stream, const char *format, va_list args)
{
	return scan(stream, fpx_streams.__isoc99_vfscanf, format, args);
}

int fiber_posix_vscanf(const char *format, va_list args)
{
	return fiber_posix_vfscanf(stdin, format, args);
}

int fiber_posix_fscanf(FILE *stream, const char *format, ...)
{
	WITH_ARGS(format, fiber_posix_vfscanf, stream, format);
}

int fiber_posix_scanf(const char *format, ...)
{
	WITH_ARGS(format, fiber_posix_vfscanf, stdin, format);
}
