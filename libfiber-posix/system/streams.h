/* SPDX-License-Identifier: MIT */
/*
 * streams.h - the C library's own calls of stdio, behind the names that this library takes
 *
 * X(result, name, parameters, arguments): a call of the C library. fpx_old_vfscanf() is vfscanf(3) as it
 * was before C99; <stdio.h> gives its name to the other one.
 */
#ifndef FPX_SYSTEM_STREAMS_H
#define FPX_SYSTEM_STREAMS_H

#include <stdarg.h>
#include <stdio.h>

/* Macros of <stdio.h>. */
#undef fread_unlocked
#undef fwrite_unlocked

/* Not declared by <stdio.h>, or under another name. */
int __isoc99_vfscanf(FILE *stream, const char *format, va_list args);
int fpx_old_vfscanf(FILE *stream, const char *format, va_list args) __asm__("vfscanf");
int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list args);
int __vdprintf_chk(int fd, int flag, const char *format, va_list args);

/* clang-format off */
#define FPX_STREAM_CALLS(X)                                                                       \
	X(size_t, fread, (void *a, size_t b, size_t c, FILE *d), (a, b, c, d))                     \
	X(size_t, fread_unlocked, (void *a, size_t b, size_t c, FILE *d), (a, b, c, d))            \
	X(size_t, fwrite, (const void *a, size_t b, size_t c, FILE *d), (a, b, c, d))              \
	X(size_t, fwrite_unlocked, (const void *a, size_t b, size_t c, FILE *d), (a, b, c, d))     \
	X(char *, fgets, (char *a, int b, FILE *c), (a, b, c))                                     \
	X(char *, fgets_unlocked, (char *a, int b, FILE *c), (a, b, c))                            \
	X(int, fputs, (const char *a, FILE *b), (a, b))                                            \
	X(int, fputs_unlocked, (const char *a, FILE *b), (a, b))                                   \
	X(int, puts, (const char *a), (a))                                                         \
	X(int, fgetc, (FILE *a), (a))                                                              \
	X(int, fgetc_unlocked, (FILE *a), (a))                                                     \
	X(int, fputc, (int a, FILE *b), (a, b))                                                    \
	X(int, fputc_unlocked, (int a, FILE *b), (a, b))                                           \
	X(int, ungetc, (int a, FILE *b), (a, b))                                                   \
	X(ssize_t, getdelim, (char **a, size_t *b, int c, FILE *d), (a, b, c, d))                  \
	X(int, fflush, (FILE *a), (a))                                                             \
	X(int, fflush_unlocked, (FILE *a), (a))                                                    \
	X(int, vfprintf, (FILE *a, const char *b, va_list c), (a, b, c))                           \
	X(int, vdprintf, (int a, const char *b, va_list c), (a, b, c))                             \
	X(int, __vfprintf_chk, (FILE *a, int b, const char *c, va_list d), (a, b, c, d))           \
	X(int, __vdprintf_chk, (int a, int b, const char *c, va_list d), (a, b, c, d))             \
	X(int, __isoc99_vfscanf, (FILE *a, const char *b, va_list c), (a, b, c))                   \
	X(int, feof, (FILE *a), (a))                                                               \
	X(int, ferror, (FILE *a), (a))                                                             \
	X(int, fseeko, (FILE *a, off_t b, int c), (a, b, c))                                       \
	X(off_t, ftello, (FILE *a), (a))                                                           \
	X(int, setvbuf, (FILE *a, char *b, int c, size_t d), (a, b, c, d))                         \
	X(int, pclose, (FILE *a), (a))                                                             \
	X(int, ftrylockfile, (FILE *a), (a))                                                       \
	X(int, __uflow, (FILE *a), (a))                                                            \
	X(int, __overflow, (FILE *a, int b), (a, b))
#define FPX_STREAM_VOIDS(X)                                                                       \
	X(void, flockfile, (FILE *a), (a))                                                         \
	X(void, funlockfile, (FILE *a), (a))                                                       \
	X(void, clearerr, (FILE *a), (a))                                                          \
	X(void, rewind, (FILE *a), (a))
/* clang-format on */

#define FPX_STREAM_MEMBER(result, name, parameters, arguments) result(*name) parameters;

/* I: set when the library is loaded, or at the first call. Never NULL. */
struct fpx_streams {
	FPX_STREAM_CALLS(FPX_STREAM_MEMBER)
	FPX_STREAM_VOIDS(FPX_STREAM_MEMBER)
	int (*old_vfscanf)(FILE *, const char *, va_list);
};

extern struct fpx_streams fpx_streams;

/* Set all of it. While the process has one thread. */
void fpx_find_streams(void);

#endif
