/* SPDX-License-Identifier: MIT */
/* read.c - read a stream whose descriptor may wait */
#include "streams/read.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "streams/buffer.h"

#define LINE_MIN 120 /* bytes, as in the C library */

/* Take up to size bytes of the buffer, through delim (-1: none). *ret_met: whether it was there. */
static size_t take(FILE *stream, char *to, size_t size, int delim, bool *ret_met)
{
	const size_t ready = fpx_readable(stream);
	size_t n = ready < size ? ready : size;
	const char *const end = delim < 0 ? NULL : memchr(stream->_IO_read_ptr, delim, n);

	if (end)
		n = (size_t)(end + 1 - stream->_IO_read_ptr);
	memcpy(to, stream->_IO_read_ptr, n);
	stream->_IO_read_ptr += n;
	*ret_met = end != NULL;
	return n;
}

size_t fpx_get_bytes(FILE *stream, char *to, size_t size)
{
	size_t done = 0, n;
	bool met;

	while (done < size) {
		if (!fpx_may_read(stream))
			break;
		/* What would fill the buffer goes past it. */
		if (!fpx_readable(stream) &&
		    size - done >= (size_t)(stream->_IO_buf_end - stream->_IO_buf_base))
			n = fpx_read_past(stream, to + done, size - done);
		else
			n = fpx_fill(stream) ? take(stream, to + done, size - done, -1, &met) : 0;
		if (!n)
			break;
		done += n;
	}
	return done;
}

char *fpx_get_line(FILE *stream, char *to, int size)
{
	/* An error of an earlier call does not count. */
	const int before = stream->_flags & _IO_ERR_SEEN;
	size_t done = 0;
	bool met = false, failed;

	if (size <= 0)
		return NULL;
	stream->_flags &= ~_IO_ERR_SEEN;
	while (!met && done < (size_t)size - 1 && fpx_fill(stream))
		done += take(stream, to + done, (size_t)size - 1 - done, '\n', &met);
	failed = stream->_flags & _IO_ERR_SEEN && errno != EAGAIN;
	stream->_flags |= before;
	if ((!done && size > 1) || failed)
		return NULL;
	to[done] = '\0';
	return to;
}

/* Make room for n more bytes and a null. */
static bool grow(char **line, size_t *size, size_t done, size_t n)
{
	size_t room = *line ? *size : 0;
	char *larger;

	if (n >= SSIZE_MAX - done) {
		errno = EOVERFLOW;
		return false;
	}
	if (room > done + n)
		return true;
	room = 2 * room > done + n + 1 ? 2 * room : done + n + 1;
	if (room < LINE_MIN)
		room = LINE_MIN;
	larger = realloc(*line, room);
	if (!larger)
		return false;
	*line = larger;
	*size = room;
	return true;
}

ssize_t fpx_get_delim(FILE *stream, char **line, size_t *size, int delim)
{
	size_t done = 0;
	bool met = false;

	if (!line || !size) {
		errno = EINVAL;
		return -1;
	}
	/* As in the C library, an error of an earlier call counts here. */
	if (stream->_flags & _IO_ERR_SEEN)
		return -1;
	/* The C library allocates even where there is nothing to read. */
	if (!grow(line, size, 0, 0))
		return -1;
	while (!met && fpx_fill(stream)) {
		if (!grow(line, size, done, fpx_readable(stream)))
			return -1;
		done += take(stream, *line + done, fpx_readable(stream), (unsigned char)delim,
			     &met);
	}
	if (!done)
		return -1;
	(*line)[done] = '\0';
	return (ssize_t)done;
}

int fpx_get_char(FILE *stream)
{
	return fpx_fill(stream) ? (unsigned char)*stream->_IO_read_ptr++ : EOF;
}
