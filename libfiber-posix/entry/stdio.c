/* SPDX-License-Identifier: MIT */
/*
 * stdio.c - reading and writing streams, their locks, fclose(3) and relatives
 *
 * In a static program the C library's own definition must be the only one, so these names are in the
 * shared library alone. The inline functions of <stdio.h> call others: getchar(3) is getc(3), getline(3)
 * is __getdelim(), and getc_unlocked(3) is __uflow() where the buffer is empty.
 */
#include <stdint.h>
#include <stdio.h>

#include <fiber/posix.h>

#include "call/descriptor.h"
#include "call/hints.h"
#include "entry/checked.h"
#include "entry/entry.h"
#include "streams/calls.h"
#include "system/streams.h"
#include "system/system.h"

__attribute__((constructor(101))) static void start(void)
{
	fpx_sees_streams = true;
}

/* `name`, which in a fiber is `own` and else `native` of the C library. */
#define ENTRY(result, name, parameters, arguments, own, native)                               \
	FPX_ENTRY result name parameters                                                      \
	{                                                                                     \
		return fpx_enters(FPX_CALLER) ? own arguments : fpx_streams.native arguments; \
	}
#define TAKEN(result, name, parameters, arguments) \
	ENTRY(result, name, parameters, arguments, fiber_posix_##name, name)
#define UNLOCKED(result, name, parameters, arguments) \
	ENTRY(result, name, parameters, arguments, fpx_##name, name)
#define TAKEN_VOID(name)                            \
	FPX_ENTRY void name(FILE *stream)           \
	{                                           \
		if (fpx_enters(FPX_CALLER))         \
			fiber_posix_##name(stream); \
		else                                \
			fpx_streams.name(stream);   \
	}

TAKEN(size_t, fread, (void *to, size_t size, size_t n, FILE *stream), (to, size, n, stream))
TAKEN(size_t, fwrite, (const void *from, size_t size, size_t n, FILE *stream),
      (from, size, n, stream))
TAKEN(char *, fgets, (char *to, int size, FILE *stream), (to, size, stream))
TAKEN(int, fputs, (const char *text, FILE *stream), (text, stream))
TAKEN(int, puts, (const char *text), (text))
TAKEN(int, fgetc, (FILE * stream), (stream))
TAKEN(int, fputc, (int c, FILE *stream), (c, stream))
TAKEN(int, ungetc, (int c, FILE *stream), (c, stream))
TAKEN(ssize_t, getdelim, (char **line, size_t *size, int delim, FILE *stream),
      (line, size, delim, stream))
TAKEN(int, fflush, (FILE * stream), (stream))
TAKEN(int, feof, (FILE * stream), (stream))
TAKEN(int, ferror, (FILE * stream), (stream))
TAKEN(int, fseeko, (FILE * stream, off_t at, int whence), (stream, at, whence))
TAKEN(off_t, ftello, (FILE * stream), (stream))
TAKEN(int, setvbuf, (FILE * stream, char *buffer, int mode, size_t size),
      (stream, buffer, mode, size))
TAKEN(int, ftrylockfile, (FILE * stream), (stream))
TAKEN_VOID(flockfile)
TAKEN_VOID(funlockfile)
TAKEN_VOID(clearerr)
TAKEN_VOID(rewind)

UNLOCKED(size_t, fread_unlocked, (void *to, size_t size, size_t n, FILE *stream),
	 (to, size, n, stream))
UNLOCKED(size_t, fwrite_unlocked, (const void *from, size_t size, size_t n, FILE *stream),
	 (from, size, n, stream))
UNLOCKED(char *, fgets_unlocked, (char *to, int size, FILE *stream), (to, size, stream))
UNLOCKED(int, fputs_unlocked, (const char *text, FILE *stream), (text, stream))
UNLOCKED(int, fgetc_unlocked, (FILE * stream), (stream))
UNLOCKED(int, fputc_unlocked, (int c, FILE *stream), (c, stream))
UNLOCKED(int, fflush_unlocked, (FILE * stream), (stream))
ENTRY(int, __uflow, (FILE * stream), (stream), fpx_uflow, __uflow)
ENTRY(int, __overflow, (FILE * stream, int c), (stream, c), fpx_overflow, __overflow)

ENTRY(ssize_t, getline, (char **line, size_t *size, FILE *stream), (line, size, '\n', stream),
      fiber_posix_getdelim, getdelim)
ENTRY(int, putchar, (int c), (c, stdout), fiber_posix_fputc, fputc)
ENTRY(int, putchar_unlocked, (int c), (c, stdout), fpx_fputc_unlocked, fputc_unlocked)
ENTRY(int, getchar, (void), (stdin), fiber_posix_fgetc, fgetc)
ENTRY(int, getchar_unlocked, (void), (stdin), fpx_fgetc_unlocked, fgetc_unlocked)

/* A plain thread reports what it closes, too. */
FPX_ENTRY int fclose(FILE *stream)
{
	return !fiber_self() || fpx_enters(FPX_CALLER) ? fiber_posix_fclose(stream)
						       : fpx_system.fclose(stream);
}

FPX_ENTRY FILE *freopen(const char *path, const char *mode, FILE *stream)
{
	return !fiber_self() || fpx_enters(FPX_CALLER) ? fiber_posix_freopen(path, mode, stream)
						       : fpx_system.freopen(path, mode, stream);
}

FPX_ENTRY int pclose(FILE *stream)
{
	return !fiber_self() || fpx_enters(FPX_CALLER) ? fiber_posix_pclose(stream)
						       : fpx_streams.pclose(stream);
}

/* -- other names of the same functions: files have 64-bit positions -- */

FPX_ALIAS(freopen) FILE *freopen64(const char *path, const char *mode, FILE *stream);
FPX_ALIAS(fseeko) int fseeko64(FILE *stream, off64_t at, int whence);
FPX_ALIAS(ftello) off64_t ftello64(FILE *stream);
FPX_ALIAS(fseeko) int fseek(FILE *stream, long at, int whence);
FPX_ALIAS(ftello) long ftell(FILE *stream);
FPX_ALIAS(fgetc) int getc(FILE *stream);
FPX_ALIAS(fgetc) int _IO_getc(FILE *stream) __nonnull((1));
FPX_ALIAS(fputc) int putc(int c, FILE *stream);
FPX_ALIAS(fputc) int _IO_putc(int c, FILE *stream) __nonnull((2));
FPX_ALIAS(fgetc_unlocked) int getc_unlocked(FILE *stream);
FPX_ALIAS(fputc_unlocked) int putc_unlocked(int c, FILE *stream);
FPX_ALIAS(getdelim) ssize_t __getdelim(char **line, size_t *size, int delim, FILE *stream);

/* -- those that fortified programs call -- */

static void check_line(int size, size_t room)
{
	if (size > 0)
		fpx_check_room((size_t)size, room);
}

static void check_items(size_t size, size_t n, size_t room)
{
	size_t bytes;

	fpx_check_room(__builtin_mul_overflow(size, n, &bytes) ? SIZE_MAX : bytes, room);
}

#define CHECKED(result, name, own, native, parameters, arguments, check)                      \
	result name parameters;                                                               \
	FPX_ENTRY result name parameters                                                      \
	{                                                                                     \
		check;                                                                        \
		return fpx_enters(FPX_CALLER) ? own arguments : fpx_streams.native arguments; \
	}

CHECKED(char *, __fgets_chk, fiber_posix_fgets, fgets,
	(char *to, size_t room, int size, FILE *stream), (to, size, stream), check_line(size, room))
CHECKED(char *, __fgets_unlocked_chk, fpx_fgets_unlocked, fgets_unlocked,
	(char *to, size_t room, int size, FILE *stream), (to, size, stream), check_line(size, room))
CHECKED(size_t, __fread_chk, fiber_posix_fread, fread,
	(void *to, size_t room, size_t size, size_t n, FILE *stream), (to, size, n, stream),
	check_items(size, n, room))
CHECKED(size_t, __fread_unlocked_chk, fpx_fread_unlocked, fread_unlocked,
	(void *to, size_t room, size_t size, size_t n, FILE *stream), (to, size, n, stream),
	check_items(size, n, room))
