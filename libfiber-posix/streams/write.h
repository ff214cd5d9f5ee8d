/* SPDX-License-Identifier: MIT */
/* write.h - write a stream whose descriptor may wait. The caller has the stream: see hold.h */
#ifndef FPX_STREAMS_WRITE_H
#define FPX_STREAMS_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Write size bytes; a stream that is buffered by lines is flushed after the last one. Returns false with
 * an error. *ret_done: how many bytes the stream has taken.
 */
bool fpx_put_bytes(FILE *stream, const char *from, size_t size, size_t *ret_done);

/* fputc(3). */
int fpx_put_char(FILE *stream, int c);

#endif
