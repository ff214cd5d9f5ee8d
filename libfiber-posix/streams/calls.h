/* SPDX-License-Identifier: MIT */
/* calls.h - the calls of stdio that have no name of their own in <fiber/posix.h> */
#ifndef FPX_STREAMS_CALLS_H
#define FPX_STREAMS_CALLS_H

#include <stdarg.h>
#include <stdio.h>

size_t fpx_fread_unlocked(void *to, size_t size, size_t n, FILE *stream);
size_t fpx_fwrite_unlocked(const void *from, size_t size, size_t n, FILE *stream);
char *fpx_fgets_unlocked(char *to, int size, FILE *stream);
int fpx_fputs_unlocked(const char *text, FILE *stream);
int fpx_fgetc_unlocked(FILE *stream);
int fpx_fputc_unlocked(int c, FILE *stream);
int fpx_fflush_unlocked(FILE *stream);

/* What the macros of getc_unlocked(3) and putc_unlocked(3) call where the buffer is empty or full. */
int fpx_uflow(FILE *stream);
int fpx_overflow(FILE *stream, int c);

/* Without fiber_posix_: the C library's of old programs, and with the flag of _FORTIFY_SOURCE. */
int fpx_old_fscanf(FILE *stream, const char *format, va_list args);
int fpx_vfprintf_chk(FILE *stream, int flag, const char *format, va_list args);
int fpx_vdprintf_chk(int fd, int flag, const char *format, va_list args);

#endif
