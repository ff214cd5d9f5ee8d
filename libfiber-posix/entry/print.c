/* SPDX-License-Identifier: MIT */
/*
 * print.c - printf(3), scanf(3) and their variants
 *
 * <stdio.h> gives the names of scanf(3) to functions of C99; old programs call the others. So each is
 * defined here under a name of its own, which the assembler replaces.
 */
#include <stdarg.h>
#include <stdio.h>

#include <fiber/posix.h>

#include "entry/entry.h"
#include "streams/calls.h"
#include "system/streams.h"

/* Functions with a va_list of their own: whether to enter is known before. */
static int print(bool own, FILE *stream, int flag, const char *format, va_list args)
{
	if (own)
		return fpx_vfprintf_chk(stream, flag, format, args);
	return flag ? fpx_streams.__vfprintf_chk(stream, flag, format, args)
		    : fpx_streams.vfprintf(stream, format, args);
}

static int print_fd(bool own, int fd, int flag, const char *format, va_list args)
{
	if (own)
		return fpx_vdprintf_chk(fd, flag, format, args);
	return flag ? fpx_streams.__vdprintf_chk(fd, flag, format, args)
		    : fpx_streams.vdprintf(fd, format, args);
}

static int scan(bool own, FILE *stream, const char *format, va_list args)
{
	return own ? fiber_posix_vfscanf(stream, format, args)
		   : fpx_streams.__isoc99_vfscanf(stream, format, args);
}

static int scan_old(bool own, FILE *stream, const char *format, va_list args)
{
	return own ? fpx_old_fscanf(stream, format, args)
		   : fpx_streams.old_vfscanf(stream, format, args);
}

/* fn(...) with the arguments that follow `format`, and with those in `args`. */
#define WITH_DOTS(symbol, name, parameters, fn, ...)                       \
	int name parameters __asm__(symbol);                               \
	FPX_ENTRY int name parameters                                      \
	{                                                                  \
		va_list args;                                              \
		int n;                                                     \
                                                                           \
		va_start(args, format);                                    \
		n = fn(fpx_enters(FPX_CALLER), __VA_ARGS__, format, args); \
		va_end(args);                                              \
		return n;                                                  \
	}
#define WITH_LIST(symbol, name, parameters, fn, ...)                          \
	int name parameters __asm__(symbol);                                  \
	FPX_ENTRY int name parameters                                         \
	{                                                                     \
		return fn(fpx_enters(FPX_CALLER), __VA_ARGS__, format, args); \
	}

#define DOTS const char *format, ...
#define LIST const char *format, va_list args

WITH_DOTS("printf", fpx_entry_printf, (DOTS), print, stdout, 0)
WITH_DOTS("fprintf", fpx_entry_fprintf, (FILE * stream, DOTS), print, stream, 0)
WITH_LIST("vprintf", fpx_entry_vprintf, (LIST), print, stdout, 0)
WITH_LIST("vfprintf", fpx_entry_vfprintf, (FILE * stream, LIST), print, stream, 0)
WITH_DOTS("dprintf", fpx_entry_dprintf, (int fd, DOTS), print_fd, fd, 0)
WITH_LIST("vdprintf", fpx_entry_vdprintf, (int fd, LIST), print_fd, fd, 0)
WITH_DOTS("__printf_chk", fpx_entry_printf_chk, (int flag, DOTS), print, stdout, flag)
WITH_DOTS("__fprintf_chk", fpx_entry_fprintf_chk, (FILE * stream, int flag, DOTS), print, stream,
	  flag)
WITH_LIST("__vprintf_chk", fpx_entry_vprintf_chk, (int flag, LIST), print, stdout, flag)
WITH_LIST("__vfprintf_chk", fpx_entry_vfprintf_chk, (FILE * stream, int flag, LIST), print, stream,
	  flag)
WITH_DOTS("__dprintf_chk", fpx_entry_dprintf_chk, (int fd, int flag, DOTS), print_fd, fd, flag)
WITH_LIST("__vdprintf_chk", fpx_entry_vdprintf_chk, (int fd, int flag, LIST), print_fd, fd, flag)

WITH_DOTS("__isoc99_scanf", fpx_entry_scanf, (DOTS), scan, stdin)
WITH_DOTS("__isoc99_fscanf", fpx_entry_fscanf, (FILE * stream, DOTS), scan, stream)
WITH_LIST("__isoc99_vscanf", fpx_entry_vscanf, (LIST), scan, stdin)
WITH_LIST("__isoc99_vfscanf", fpx_entry_vfscanf, (FILE * stream, LIST), scan, stream)
WITH_DOTS("scanf", fpx_entry_old_scanf, (DOTS), scan_old, stdin)
WITH_DOTS("fscanf", fpx_entry_old_fscanf, (FILE * stream, DOTS), scan_old, stream)
WITH_LIST("vscanf", fpx_entry_old_vscanf, (LIST), scan_old, stdin)
WITH_LIST("vfscanf", fpx_entry_old_vfscanf, (FILE * stream, LIST), scan_old, stream)
