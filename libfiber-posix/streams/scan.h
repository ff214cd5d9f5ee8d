/* SPDX-License-Identifier: MIT */
/* scan.h - fscanf(3) from a stream whose descriptor may wait. The caller has the stream: see hold.h */
#ifndef FPX_STREAMS_SCAN_H
#define FPX_STREAMS_SCAN_H

#include <stdarg.h>
#include <stdio.h>

/* scan: a vfscanf() of the C library. */
int fpx_scan(FILE *stream, int (*scan)(FILE *, const char *, va_list), const char *format,
	     va_list args);

#endif
