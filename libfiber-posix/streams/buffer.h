/* SPDX-License-Identifier: MIT */
/* buffer.h - read into and write from the buffer of a stream, parking */
#ifndef FPX_STREAMS_BUFFER_H
#define FPX_STREAMS_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The caller has the stream, or is its only user. Errors set errno and the stream's indicator. */

/* Bytes that can be read without the descriptor. */
static inline size_t fpx_readable(const FILE *stream)
{
	return (size_t)(stream->_IO_read_end - stream->_IO_read_ptr);
}

/* Prepare the stream for reading and read if the buffer is empty. Returns whether it has bytes. */
bool fpx_fill(FILE *stream);

/* Read into other memory. The buffer is empty, after fpx_fill()'s preparation. Returns the bytes; 0: none. */
size_t fpx_read_past(FILE *stream, char *to, size_t size);

/* The same preparation alone. Returns false at the end of the file or with an error. */
bool fpx_may_read(FILE *stream);

/* Prepare the stream for writing: it has a buffer, and is not reading. Returns false with an error. */
bool fpx_may_write(FILE *stream);

/* Write what the buffer holds. What cannot be written stays there. Returns false with an error. */
bool fpx_drain(FILE *stream);

/* Write from other memory. Returns how many bytes; fewer than size with an error. */
size_t fpx_write_past(FILE *stream, const char *from, size_t size);

#endif
