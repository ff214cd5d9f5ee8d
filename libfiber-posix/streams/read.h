/* SPDX-License-Identifier: MIT */
/* read.h - read a stream whose descriptor may wait. The caller has the stream: see hold.h */
#ifndef FPX_STREAMS_READ_H
#define FPX_STREAMS_READ_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* As the functions of the C library; fpx_get_bytes() returns a number of bytes. */
size_t fpx_get_bytes(FILE *stream, char *to, size_t size);
char *fpx_get_line(FILE *stream, char *to, int size);
ssize_t fpx_get_delim(FILE *stream, char **line, size_t *size, int delim);
int fpx_get_char(FILE *stream);

#endif
